//! Kernels of the book's record that take matrices as tensor maps.

use program::tensor::{Element, Fill, Swizzle, TensorMap, TensorMapArguments};

/// A matrix in memory, and the box of it that a copy brings: rows and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapped {
    pub(crate) element: Element,
    pub(crate) size: [u32; 2],
    pub(crate) of_box: [u32; 2],
}

/// A kernel: its file, its name, the type of its factors, rows of a box of A and of B, and whether it takes C as a map.
type Kernel = (&'static str, &'static str, Element, [u32; 2], bool);

const KERNELS: [Kernel; 16] = [
    ("v11_producer", "sgemm_v11_producer", Element::F32, [256, 16], false),
    ("v12_wgmma", "gemm_v12_wgmma", Element::Bf16, [128, 64], false),
    ("v12_ring", "gemm_v12_ring", Element::Bf16, [128, 64], false),
    ("v12_persistent", "gemm_v12_persistent", Element::Bf16, [128, 64], false),
    ("v12_multicast", "gemm_v12_multicast", Element::Bf16, [128, 32], false),
    ("v12_store", "gemm_v12_store", Element::Bf16, [128, 32], true),
    ("v12_store", "gemm_v12_store_192", Element::Bf16, [128, 32], true),
    ("v12_ping_pong", "gemm_v12_ping_pong", Element::Bf16, [128, 32], true),
    ("v12_ping_pong", "gemm_v12_ping_pong_192", Element::Bf16, [128, 32], true),
    ("v12_small", "gemm_v12_small_128x128", Element::Bf16, [128, 64], true),
    ("v12_small", "gemm_v12_small_64x128", Element::Bf16, [64, 64], true),
    ("v12_small", "gemm_v12_small_64x64", Element::Bf16, [64, 64], true),
    ("v12_split", "gemm_v12_split_128x128", Element::Bf16, [128, 64], false),
    ("v12_tf32", "gemm_v12_tf32", Element::Tf32, [128, 128], true),
    ("v12_fp8", "gemm_v12_fp8", Element::U8, [128, 96], true),
    ("v12_fp8", "gemm_v12_fp8_fast", Element::U8, [128, 96], true),
];

/// Bytes of a row of a box of v12.
const ROW: u32 = 128;

/// Returns the file of a kernel, and A, B and C: as maps, or C as its number of bytes.
pub(crate) fn find(kernel: &str, [m, n, k]: [u32; 3]) -> Option<(&'static str, [Mapped; 2], Result<Mapped, usize>)> {
    let (base, result) = match kernel.rsplit_once('_') {
        Some((base, "f32")) => (base, Element::F32),
        Some((base, "bf16")) => (base, Element::Bf16),
        _ => (kernel, Element::F32),
    };
    let &(file, _, element, [a_rows, b_rows], maps_c) = KERNELS.iter().find(|kernel| kernel.1 == base)?;
    let by_k = matches!(element, Element::Tf32 | Element::U8);
    let map = |size, rows| Mapped { element, size, of_box: [rows, ROW / element.bytes() as u32] };
    let factors = match element {
        Element::F32 => Mapped::factors_of_v11([m, n, k]),
        _ => [map([m, k], a_rows), map(if by_k { [n, k] } else { [k, n] }, b_rows)],
    };
    let c = Mapped { element: result, size: [m, n], of_box: [64, ROW / result.bytes() as u32] };
    Some((file, factors, if maps_c { Ok(c) } else { Err(c.bytes()) }))
}

/// Returns the file of a kernel on tensor cores that takes matrices by their addresses, the bytes of an element of A
/// and B and of one of C, and whether it takes alpha.
pub(crate) fn find_unmapped(kernel: &str) -> Option<(String, [usize; 2], bool)> {
    let result = |name: &str| if name.ends_with("_bf16") { 2 } else { 4 };
    match kernel.split_once("gemm_v10_") {
        Some(("bf16", name)) => Some((format!("v10_{name}"), [2, 4], false)),
        Some((_, name)) => Some((format!("v10_{name}"), [4, 4], false)),
        None if kernel.starts_with("gemm_v12_mma_ring") => Some(("v12_mma_ring".into(), [2, result(kernel)], true)),
        None => None,
    }
}

impl Mapped {
    /// Returns A and B of a product of floats as the large kernels of v11 take them.
    pub(crate) fn factors_of_v11([m, n, k]: [u32; 3]) -> [Self; 2] {
        let map = |size, of_box| Self { element: Element::F32, size, of_box };
        [map([m, k], [256, 16]), map([k, n], [16, 128])]
    }

    pub(crate) fn bytes(self) -> usize {
        self.size.iter().map(|&size| size as usize).product::<usize>() * self.element.bytes() as usize
    }

    pub(crate) fn encoded(self, address: u64) -> Vec<u8> {
        let bytes = self.element.bytes();
        let [rows, cols] = self.size.map(u64::from);
        let [box_rows, box_cols] = self.of_box;
        let swizzle = match u64::from(box_cols) * bytes {
            64 => Swizzle::B64,
            128 => Swizzle::B128,
            _ => Swizzle::None,
        };
        let map = TensorMap::new(TensorMapArguments {
            address,
            element: self.element,
            dims: &[cols, rows],
            strides: &[cols * bytes],
            box_dims: &[box_cols, box_rows],
            steps: &[1, 1],
            swizzle,
            fill: Fill::Zeros,
        });
        map.expect("the kernel was launched with such a map").encode().to_vec()
    }
}
