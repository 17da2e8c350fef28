//! Copies of boxes of tensors, made the same way on a GPU and on the emulator: each case is a tensor map, a place and a
//! small kernel that copies one box.
//!
//! The example `tensor_on_device` writes what a device answers; `it/tensor.rs` compares the emulator with
//! the answers of an H200 (`tests/data/tensor`).

use std::fmt::Write as _;

use simt::program::tensor::{Element, Fill, Swizzle, TensorMap};

pub const TENSOR_BYTES: usize = 1 << 16;
pub const SHARED_BYTES: usize = 8192;
pub const THREADS: u32 = 64;
/// Words that a kernel writes: whether the copy completed, and what shared memory holds.
pub const OUT_WORDS: usize = 1 + SHARED_BYTES / 4;
pub const MAP_BYTES: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Load,
    Store,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    Map,
    Zeros,
    Garbage,
}

/// One copy. Lists stand innermost dimension first; enums of the driver are their numbers.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    /// `CUtensorMapDataType`
    pub kind: u32,
    pub dims: Vec<u64>,
    /// Bytes from one element to the next, without the innermost dimension.
    pub strides: Vec<u64>,
    pub box_dims: Vec<u32>,
    /// `elementStrides`
    pub steps: Vec<u32>,
    /// `CUtensorMapSwizzle`
    pub swizzle: u32,
    /// `CUtensorMapFloatOOBfill`
    pub fill: u32,
    pub at: Vec<i32>,
    /// Place of the box in shared memory, behind a multiple of 1024.
    pub to: u32,
    /// Bytes that the barrier expects; `None` for those of the whole box.
    pub expected: Option<u32>,
    pub way: Way,
    pub passed: Passed,
    pub map_at: usize,
}

impl Case {
    /// Returns a load of a box of a matrix of 64 x 40 floats in rows of 272 bytes.
    fn matrix(name: &str, box_dims: [u32; 2], swizzle: u32, at: [i32; 2]) -> Self {
        Self {
            name: name.to_owned(),
            kind: 7,
            dims: vec![64, 40],
            strides: vec![272],
            box_dims: box_dims.to_vec(),
            steps: vec![1; 2],
            swizzle,
            fill: 0,
            at: at.to_vec(),
            to: 0,
            expected: None,
            way: Way::Load,
            passed: Passed::Map,
            map_at: 0,
        }
    }

    fn tensor(
        name: &str,
        kind: u32,
        dims: &[u64],
        strides: &[u64],
        box_dims: &[u32],
        steps: &[u32],
        at: &[i32],
    ) -> Self {
        Self {
            kind,
            dims: dims.to_vec(),
            strides: strides.to_vec(),
            box_dims: box_dims.to_vec(),
            steps: steps.to_vec(),
            at: at.to_vec(),
            ..Self::matrix(name, [4, 1], 0, [0, 0])
        }
    }

    fn with(self, change: impl FnOnce(&mut Self)) -> Self {
        let mut case = self;
        change(&mut case);
        case
    }

    fn store(self) -> Self {
        self.with(|case| {
            case.name.push_str(" store");
            case.way = Way::Store;
        })
    }

    fn element(&self) -> Element {
        use Element::{Bf16, F16, F32, F64, S32, S64, Tf32, U8, U16, U32, U64};
        [U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32, Tf32, Tf32][self.kind as usize]
    }

    /// Returns the map of a tensor at `address`, as the emulator understands it.
    pub fn map(&self, address: u64) -> Result<TensorMap, String> {
        let swizzle = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128][(self.swizzle & 3) as usize];
        let fill = [Fill::Zeros, Fill::Nan][(self.fill & 1) as usize];
        let Self { dims, strides, box_dims, steps, .. } = self;
        TensorMap::new(address, self.element(), dims, strides, box_dims, steps, swizzle, fill)
            .map_err(|rule| rule.to_string())
    }

    fn bytes(&self) -> u32 {
        let steps = self.steps.iter().enumerate();
        let extent = |(d, step): (usize, &u32)| match d {
            0 => self.box_dims[0],
            _ => self.box_dims[d].div_ceil(*step),
        };
        let whole = steps.map(extent).product::<u32>() * self.element().bytes() as u32;
        self.expected.unwrap_or(whole)
    }

    pub fn module(&self) -> String {
        let mut text = String::from(
            ".version 8.4\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 box[];\n\
             .shared .align 8 .b64 barrier;\n\n",
        );
        let rank = self.at.len();
        let at = self.at.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        let (to, bytes) = (self.to, self.bytes());
        let copy = match self.way {
            Way::Load => format!(
                "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], {bytes};\n    \
                 cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
                 [box+{to}], [%d1, {{{at}}}], [barrier];\n"
            ),
            Way::Store => format!(
                "    cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%d1, {{{at}}}], [box+{to}];\n    \
                 cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n    \
                 mbarrier.arrive.shared::cta.b64 _, [barrier];\n"
            ),
        };
        let _ = write!(
            text,
            ".visible .entry copy(.param .align 64 .b8 p_map[{MAP_BYTES}], .param .u64 p_out)\n{{\n\
             \x20   .reg .pred %p<4>;\n    .reg .b32 %r<16>;\n    .reg .b64 %d<8>;\n\
             \x20   mov.b64 %d1, p_map;\n    cvta.param.u64 %d1, %d1;\n    add.u64 %d1, %d1, {};\n\
             \x20   ld.param.u64 %d2, [p_out];\n    mov.u32 %r1, %tid.x;\n    mov.u32 %r2, box;\n\
             \x20   shl.b32 %r3, %r1, 2;\n    add.u32 %r4, %r2, %r3;\n    mov.u32 %r5, 0;\n\
             fill:\n    shr.u32 %r6, %r3, 2;\n    mad.lo.u32 %r6, %r6, 65537, 2863267840;\n\
             \x20   st.shared.u32 [%r4], %r6;\n    add.u32 %r4, %r4, {step};\n    add.u32 %r3, %r3, {step};\n\
             \x20   setp.lt.u32 %p1, %r3, {SHARED_BYTES};\n    @%p1 bra fill;\n\
             \x20   setp.ne.u32 %p2, %r1, 0;\n    @%p2 bra ready;\n\
             \x20   mbarrier.init.shared::cta.b64 [barrier], 1;\n    fence.mbarrier_init.release.cluster;\n\
             ready:\n    fence.proxy.async;\n    bar.sync 0;\n    @%p2 bra wait;\n{copy}\
             wait:\n    mbarrier.try_wait.parity.shared::cta.b64 %p3, [barrier], 0;\n    @%p3 bra done;\n\
             \x20   add.u32 %r5, %r5, 1;\n    setp.lt.u32 %p1, %r5, 100;\n    @%p1 bra wait;\n\
             done:\n    selp.u32 %r7, 1, 0, %p3;\n    bar.sync 0;\n    @!%p2 st.global.u32 [%d2], %r7;\n\
             \x20   shl.b32 %r3, %r1, 2;\n    add.u32 %r4, %r2, %r3;\n    cvt.u64.u32 %d3, %r3;\n    add.u64 %d2, %d2, %d3;\n\
             dump:\n    ld.shared.u32 %r6, [%r4];\n    st.global.u32 [%d2+4], %r6;\n\
             \x20   add.u32 %r4, %r4, {step};\n    add.u64 %d2, %d2, {step};\n    add.u32 %r3, %r3, {step};\n\
             \x20   setp.lt.u32 %p1, %r3, {SHARED_BYTES};\n    @%p1 bra dump;\n    ret;\n}}\n",
            self.map_at,
            step = 4 * THREADS,
        );
        text
    }

    pub fn parameter(&self, map: &[u8]) -> [u8; MAP_BYTES] {
        let mut bytes = [0; MAP_BYTES];
        match self.passed {
            Passed::Map => bytes[self.map_at..][..map.len()].copy_from_slice(map),
            Passed::Zeros => {}
            Passed::Garbage => bytes.iter_mut().enumerate().for_each(|(i, b)| *b = i as u8 ^ 0x5A),
        }
        bytes
    }
}

/// Returns the content of the tensor's memory before the kernel. The first words are numbers that conversions change.
pub fn tensor_words() -> Vec<u32> {
    #[rustfmt::skip]
    const SPECIAL: [u32; 16] = [
        0x0000_0001, 0x807F_FFFF, 0x0080_0000, 0x3F80_0FFF, 0x3F80_1000, 0x3F80_1001, 0x3F80_3000,
        0xBF80_2FFF, 0x7F7F_FFFF, 0x7F80_0000, 0xFF80_0000, 0x7F80_0001, 0x7FC0_0001, 0xFFFF_FFFF,
        0x8000_0000, 0x0040_1000,
    ];
    let word = |i: usize| (i as u32).wrapping_mul(0x9E37_79B1) ^ 0x5555;
    (0..TENSOR_BYTES / 4).map(|i| SPECIAL.get(i).copied().unwrap_or_else(|| word(i))).collect()
}

/// Returns the answer of a device: whether the copy completed, and hashes of shared memory and of the tensor after it.
pub fn answer(out: &[u32], tensor: &[u32]) -> String {
    let hash = |words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        catalog::provenance::sha256(&bytes)[..16].to_owned()
    };
    format!("{} {} {}", out[0], hash(&out[1..]), hash(tensor))
}

/// Returns all cases: loads, stores, and at the end those that stop a GPU.
pub fn cases() -> Vec<Case> {
    let mut list = copies();
    list.extend(faults());
    list
}

fn copies() -> Vec<Case> {
    let matrix = Case::matrix;
    let mut list = vec![
        matrix("plain", [16, 8], 0, [0, 0]),
        matrix("plain inside", [16, 8], 0, [12, 5]),
        matrix("plain right edge", [16, 8], 0, [56, 5]),
        matrix("plain left edge", [16, 8], 0, [-8, 5]),
        matrix("plain corner", [16, 8], 0, [-8, -3]),
        matrix("plain bottom", [16, 8], 0, [4, 36]),
        matrix("plain outside", [16, 8], 0, [64, 0]),
        matrix("plain far outside", [16, 8], 0, [2147483644, -2147483648]),
        matrix("swizzle 32", [8, 32], 1, [8, 2]),
        matrix("swizzle 64", [16, 32], 2, [8, 2]),
        matrix("swizzle 128", [32, 32], 3, [8, 2]),
        matrix("swizzle 128 at the edge", [32, 32], 3, [48, 20]),
        matrix("swizzle 32 at 128", [8, 32], 1, [8, 2]).with(|c| c.to = 128),
        matrix("swizzle 64 at 384", [16, 32], 2, [8, 2]).with(|c| c.to = 384),
        matrix("swizzle 128 at 384", [32, 32], 3, [8, 2]).with(|c| c.to = 384),
        matrix("narrow in 64", [8, 32], 2, [8, 2]),
        matrix("narrow in 128", [8, 32], 3, [8, 2]),
        matrix("narrower in 128", [4, 16], 3, [8, 2]),
        matrix("ragged width", [16, 8], 2, [52, 2]).with(|c| c.dims[0] = 61),
        matrix("NaN", [16, 8], 0, [56, 36]).with(|c| c.fill = 1),
        matrix("steps of rows", [8, 12], 0, [8, 2]).with(|c| c.steps[1] = 2),
        matrix("steps of rows that leave a rest", [8, 12], 0, [8, 1]).with(|c| c.steps[1] = 5),
        matrix("steps of rows from before the first", [8, 12], 0, [8, -3]).with(|c| c.steps[1] = 2),
        matrix("steps in a row", [16, 8], 0, [8, 2]).with(|c| c.steps[0] = 2),
        matrix("overlapping rows", [16, 8], 0, [4, 2]).with(|c| c.strides[0] = 16),
        matrix("one row again and again", [16, 8], 0, [4, 2]).with(|c| c.strides[0] = 0),
    ];
    for (name, kind, wide) in [("f16", 6, 8), ("f64", 8, 2), ("bf16", 9, 8)] {
        let (dims, box_dims, at) = ([4 * wide, 9], [2 * wide as u32, 4], [3 * wide as i32, 6]);
        let case = Case::tensor(&format!("{name} NaN"), kind, &dims, &[272], &box_dims, &[1; 2], &at);
        list.push(case.with(|c| c.fill = 1));
    }
    let tensor = Case::tensor;
    list.extend([
        tensor("1d bytes", 0, &[1000], &[], &[256], &[1], &[816]),
        tensor("1d words", 2, &[1000], &[], &[256], &[1], &[-16]),
        tensor("3d shorts", 1, &[24, 5, 7], &[64, 320], &[16, 4, 3], &[1; 3], &[16, 3, -1]),
        tensor("3d longs", 4, &[6, 9, 9], &[48, 432], &[4, 7, 8], &[1, 3, 2], &[-2, -1, 2]),
        tensor("4d signed", 3, &[16, 5, 3, 4], &[64, 320, 1024], &[8, 3, 2, 3], &[1; 4], &[8, 3, 2, -1]),
        tensor("4d signed longs", 5, &[4, 5, 3, 4], &[64, 320, 1024], &[2, 3, 2, 3], &[1; 4], &[2, 3, 2, 1]),
        tensor("5d halves", 9, &[16, 3, 3, 3, 3], &[32, 96, 288, 864], &[16, 2, 2, 2, 2], &[1; 5], &[0, 2, -1, 1, 2])
            .with(|c| c.swizzle = 1),
        tensor("flushed floats", 10, &[64], &[], &[64], &[1], &[0]),
        tensor("tf32", 11, &[64], &[], &[64], &[1], &[0]),
        tensor("flushed tf32", 12, &[64], &[], &[64], &[1], &[0]),
    ]);
    let stores: Vec<Case> = list
        .iter()
        .filter(|case| !case.name.contains("overlapping") && !case.name.contains("one row"))
        .map(|case| case.clone().store())
        .collect();
    list.extend(stores);
    // What the barrier counts.
    let plain = matrix("barrier expects", [16, 8], 0, [0, 0]);
    let edge = matrix("at the edge, barrier expects", [16, 8], 0, [56, 0]);
    let narrow = matrix("narrow, barrier expects", [8, 32], 3, [0, 0]);
    #[rustfmt::skip]
    let counts = [
        (&plain, "half", 256), (&plain, "less", 496), (&plain, "more", 528), (&plain, "twice", 1024),
        (&edge, "the part inside", 256), (&edge, "all", 512), (&narrow, "rows", 1024), (&narrow, "whole spans", 4096),
    ];
    for (case, what, expected) in counts {
        let name = format!("{} {what}", case.name);
        list.push(Case { name, expected: Some(expected), ..case.clone() });
    }
    list
}

fn faults() -> Vec<Case> {
    let matrix = |name: &str| Case::matrix(name, [16, 8], 0, [0, 0]);
    let mut list = vec![
        matrix("map at 64").with(|c| c.map_at = 64),
        matrix("map at 16").with(|c| c.map_at = 16),
        matrix("map at 32").with(|c| c.map_at = 32),
        matrix("zeros for a map").with(|c| c.passed = Passed::Zeros),
        matrix("garbage for a map").with(|c| c.passed = Passed::Garbage),
        matrix("column 1").with(|c| c.at[0] = 1),
        matrix("column 2").with(|c| c.at[0] = 2),
        matrix("column -1").with(|c| c.at[0] = -1),
        matrix("column 65").with(|c| c.at[0] = 65),
        matrix("fewer coordinates").with(|c| c.at = vec![0]),
        matrix("more coordinates").with(|c| c.at = vec![0, 0, 0]),
    ];
    for to in [4, 16, 32, 64] {
        list.push(matrix(&format!("shared memory at {to}")).with(|c| c.to = to));
        list.push(matrix(&format!("swizzled, shared memory at {to}")).with(|c| (c.to, c.swizzle) = (to, 2)));
    }
    list.push(Case::tensor("column 8 of bytes", 0, &[1000], &[], &[64], &[1], &[8]));
    list.push(Case::tensor("column 4 of halves", 6, &[1000], &[], &[64], &[1], &[4]));
    let stores: Vec<Case> = list.iter().map(|case| case.clone().store()).collect();
    list.extend(stores);
    list
}
