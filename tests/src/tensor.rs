//! Copies of boxes of tensors, made the same way on a GPU and on the emulator: each case is a tensor map, a place and a
//! small kernel that copies one box.
//!
//! The example `tensor_on_device` writes what a device answers; `it/tensor.rs` compares the emulator with
//! the answers of an H200 (`tests/data/tensor`).

use program::tensor::{Element, Fill, Swizzle, TensorMap, TensorMapArguments};
use serde::Deserialize;

pub const TENSOR_BYTES: usize = 1 << 16;
pub const SHARED_BYTES: usize = 8192;
pub const THREADS: u32 = 64;
/// Words that a kernel writes: whether the copy completed, and what shared memory holds.
pub const OUT_WORDS: usize = 1 + SHARED_BYTES / 4;
pub const MAP_BYTES: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Load,
    Store,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    Map,
    Zeros,
    Garbage,
}

/// One copy. Lists stand innermost dimension first; enums of the driver are their numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
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

impl Default for Case {
    /// Returns a load of a box of a matrix of 64 x 40 floats in rows of 272 bytes.
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: 7,
            dims: vec![64, 40],
            strides: vec![272],
            box_dims: vec![16, 8],
            steps: vec![1; 2],
            swizzle: 0,
            fill: 0,
            at: vec![0; 2],
            to: 0,
            expected: None,
            way: Way::Load,
            passed: Passed::Map,
            map_at: 0,
        }
    }
}

impl Case {
    fn store(&self) -> Self {
        Self { name: format!("{} store", self.name), way: Way::Store, ..self.clone() }
    }

    fn element(&self) -> Element {
        use Element::{Bf16, F16, F32, F64, S32, S64, Tf32, U8, U16, U32, U64};
        [U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32, Tf32, Tf32][self.kind as usize]
    }

    /// Returns the map of a tensor at `address`, as the emulator understands it.
    pub fn map(&self, address: u64) -> Result<TensorMap, String> {
        let swizzle = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128][(self.swizzle & 3) as usize];
        let fill = [Fill::Zeros, Fill::Nan][(self.fill & 1) as usize];
        let (Self { dims, strides, box_dims, steps, .. }, element) = (self, self.element());
        TensorMap::new(TensorMapArguments { address, element, dims, strides, box_dims, steps, swizzle, fill })
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
        format!(
            include_str!("tensor.ptx"),
            map_bytes = MAP_BYTES,
            map_at = self.map_at,
            step = 4 * THREADS,
            shared_bytes = SHARED_BYTES,
            copy = copy,
        )
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
    #[derive(Deserialize)]
    struct Cases {
        copies: Vec<Case>,
        expectations: Vec<Case>,
        faults: Vec<Case>,
    }
    let Cases { copies, expectations, faults } = toml::from_str(include_str!("tensor.toml")).expect("cases");
    // Rows that overlap race when they are stored.
    let row_bytes = |case: &Case| case.dims[0] * case.element().bytes();
    let stored = |case: &&Case| case.strides.first().is_none_or(|stride| *stride >= row_bytes(case));
    let stores: Vec<Case> = copies.iter().filter(stored).map(Case::store).collect();
    let of_faults: Vec<Case> = faults.iter().map(Case::store).collect();
    [copies, stores, expectations, faults, of_faults].concat()
}
