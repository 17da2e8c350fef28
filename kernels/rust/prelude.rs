//! The parts that the kernels in Rust share: CUDA's indices and barrier, tiles in shared memory, registers that are
//! indexed like arrays, and the loads and stores of `common.cuh`.
//!
//! All matrices are row-major: X\[row\]\[col\] of a rows x cols matrix lies at `X.at(row * cols + col)`.
//! X itself lies on 16 bytes, as every allocation does. Indices are `i32`, as in C++: an index of 64 bits takes two
//! registers. An unsafe function checks no address; the emulated GPU checks every access of a launch.
#![no_std]
#![feature(abi_unadjusted, asm_experimental_arch, core_float_math, link_llvm_intrinsics, stdarch_nvptx)]
// LLVM's test of memory spaces is internal; matrices have capitals, as in C++; all that is unsafe here is short.
#![allow(internal_features, non_snake_case, unsafe_op_in_unsafe_fn)]

use core::arch::{asm, nvptx};
use core::hint::assert_unchecked;
use core::ops;

/// Number of threads in a warp.
pub const WARP_SIZE: i32 = 32;
/// Number of floats in a [`Float4`].
pub const WIDTH: i32 = 4;

/// Position in a block or a grid: `threadIdx` or `blockIdx` of CUDA C++.
pub struct Position {
    pub x: i32,
    pub y: i32,
}

/// Returns the position of this thread in its block.
#[inline(always)]
pub fn thread_idx() -> Position {
    // SAFETY: these read registers that every thread has.
    unsafe { Position { x: nvptx::_thread_idx_x() as i32, y: nvptx::_thread_idx_y() as i32 } }
}

/// Returns the position of this block in the grid.
#[inline(always)]
pub fn block_idx() -> Position {
    // SAFETY: these read registers that every thread has.
    unsafe { Position { x: nvptx::_block_idx_x() as i32, y: nvptx::_block_idx_y() as i32 } }
}

/// Waits until every thread of the block is here: `__syncthreads()`.
///
/// # Safety
/// All threads of the block reach it, or none.
#[inline(always)]
pub unsafe fn barrier() {
    nvptx::_syncthreads()
}

/// Returns a * b + c, rounded once: one instruction. rustc never contracts `a * b + c` to it.
#[inline(always)]
pub fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    core::f32::math::mul_add(a, b, c)
}

/// Names the threads of a block, and the blocks that each multiprocessor must have registers for: `__launch_bounds__`.
///
/// rustc has no such attribute. This leaves a comment in the PTX, and `cargo xtask ptx --rust` makes directives of it.
#[macro_export]
macro_rules! launch_bounds {
    ($threads:expr $(, $blocks:expr)?) => {
        ::core::arch::asm!("// .maxntid {}, 1, 1", const $threads, options(nomem, nostack, preserves_flags));
        $(::core::arch::asm!("// .minnctapersm {}", const $blocks, options(nomem, nostack, preserves_flags));)?
    };
}

/// Returns a number from 0 to `limit`, without what LLVM knows of its origin.
///
/// LLVM would join `thread / 16 * 8 + 7` to `thread / 2 | 7`. Neighbouring rows then have no address in common, so that
/// each takes a register. It would also keep each condition of a load in a register for the whole main loop.
#[inline(always)]
pub fn opaque(number: i32, limit: i32) -> i32 {
    let same: i32;
    // SAFETY: this copies a register, whose limits the caller names.
    unsafe {
        asm!("mov.b32 {}, {};", out(reg32) same, in(reg32) number, options(nomem, nostack, preserves_flags));
        assert_unchecked(0 <= same && same <= limit);
    }
    same
}

/// A pointer that an `i32` indexes.
pub trait At {
    /// Returns the address of element `i`.
    ///
    /// # Safety
    /// The element lies inside the allocation, as for `pointer::offset`.
    unsafe fn at(self, i: i32) -> Self;

    /// Returns the address of the first element of a row of `cols`.
    ///
    /// `row * cols + k` may wrap in Rust, so LLVM would compute it again for each k. This product does not overflow,
    /// and the elements of the row follow it.
    ///
    /// # Safety
    /// As for `at`.
    unsafe fn row(self, row: i32, cols: i32) -> Self;
}

macro_rules! at {
    ($($pointer:ty),*) => { $(
        impl At for $pointer {
            #[inline(always)]
            unsafe fn at(self, i: i32) -> Self {
                self.offset(i as isize)
            }

            #[inline(always)]
            unsafe fn row(self, row: i32, cols: i32) -> Self {
                self.at(row.unchecked_mul(cols))
            }
        }
    )* };
}
at!(*const f32, *mut f32);

/// `ROWS` x `COLS` floats in shared memory, row by row. [`shared!`] declares them.
#[derive(Clone, Copy)]
pub struct Tile<const ROWS: i32, const COLS: i32>(*mut f32);

/// Declares tiles in shared memory: `shared!(a_tile: f32[BM][BK])` for `__shared__ float a_tile[BM][BK]`. A third
/// dimension before these is a number of buffers. `align 16` at the end is for tiles that are read four floats at once.
///
/// Rust has no type for shared memory, so PTX declares the bytes; `Tile::from_ptx` makes a pointer of their address.
#[macro_export]
macro_rules! shared {
    ($name:ident: f32[$rows:expr][$cols:expr] $(, align $align:literal)?) => {
        let $name = $crate::Tile::<{ $rows }, { $cols }>::from_ptx($crate::shared!(@ $name, $rows * $cols, $($align)?));
    };
    ($name:ident: f32[$n:expr][$rows:expr][$cols:expr] $(, align $align:literal)?) => {
        let $name = $crate::Tiles($crate::Tile::<{ $rows }, { $cols }>::from_ptx(
            $crate::shared!(@ $name, $n * $rows * $cols, $($align)?)
        ));
    };
    (@ $name:ident, $floats:expr,) => { $crate::shared!(@ $name, $floats, 4) };
    (@ $name:ident, $floats:expr, $align:literal) => {{
        let address: *mut f32;
        ::core::arch::asm!(
            concat!(".shared .align ", $align, " .b8 ", stringify!($name), "[{bytes}];"),
            concat!("cvta.shared.u64 {address}, ", stringify!($name), ";"),
            bytes = const 4 * ($floats),
            address = out(reg64) address,
            options(pure, nomem, nostack, preserves_flags)
        );
        ::core::hint::assert_unchecked(address.addr() % $align == 0);
        address
    }};
}

unsafe extern "unadjusted" {
    /// Returns whether an address is of shared memory.
    #[link_name = "llvm.nvvm.isspacep.shared"]
    fn is_shared(address: *const f32) -> bool;
}

impl<const ROWS: i32, const COLS: i32> Tile<ROWS, COLS> {
    /// Returns the tile at an address in shared memory.
    ///
    /// LLVM gives each access the memory space that it can prove, so that a tile is read by `ld.shared`; what it needs
    /// for that is the assumption below.
    ///
    /// # Safety
    /// The address is that of the declared bytes.
    #[inline(always)]
    pub unsafe fn from_ptx(address: *mut f32) -> Self {
        // The comment in the PTX is a second use of `is`: LLVM 22 drops an assumption about a value that has no other.
        let is = is_shared(address);
        asm!("// shared: {}", in(reg32) i32::from(is), options(nomem, nostack, preserves_flags));
        assert_unchecked(is);
        Self(address)
    }

    /// Returns the address of an element.
    ///
    /// # Safety
    /// The element lies inside the tile.
    #[inline(always)]
    pub unsafe fn at(self, row: i32, col: i32) -> *mut f32 {
        self.0.at(row * COLS + col)
    }
}

/// Several tiles in shared memory, one after the other.
#[derive(Clone, Copy)]
pub struct Tiles<const ROWS: i32, const COLS: i32>(pub Tile<ROWS, COLS>);

impl<const ROWS: i32, const COLS: i32> Tiles<ROWS, COLS> {
    /// Returns the address of an element of one of the tiles.
    ///
    /// # Safety
    /// The element lies inside the tile, and there are more than `buffer` tiles.
    #[inline(always)]
    pub unsafe fn at(self, buffer: i32, row: i32, col: i32) -> *mut f32 {
        // One address after the other: LLVM may split no sum that could wrap, and so finds no constant offset in it.
        self.0.at(buffer * ROWS, 0).at(row * COLS).at(col)
    }
}

/// An array in registers, for which every index must be known after unrolling: registers have no addresses. Its bounds
/// are checked, which costs nothing then.
#[derive(Clone, Copy)]
pub struct Registers<T, const N: usize>(pub [T; N]);

/// Makes arrays of zeros in registers: `registers!([TM][TN])` for `float acc[TM][TN] = {}`.
#[macro_export]
macro_rules! registers {
    ([$n:expr]) => { $crate::Registers([0.0; $n as usize]) };
    ([$n:expr] $($rest:tt)+) => { $crate::Registers([$crate::registers!($($rest)+); $n as usize]) };
}

impl<T, const N: usize> ops::Index<i32> for Registers<T, N> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: i32) -> &T {
        &self.0[i as usize]
    }
}

impl<T, const N: usize> ops::IndexMut<i32> for Registers<T, N> {
    #[inline(always)]
    fn index_mut(&mut self, i: i32) -> &mut T {
        &mut self.0[i as usize]
    }
}

impl<const N: usize> Registers<f32, N> {
    /// Sets four neighbouring elements, from `i` on.
    #[inline(always)]
    pub fn set4(&mut self, i: i32, v: Float4) {
        (self[i], self[i + 1], self[i + 2], self[i + 3]) = (v.x, v.y, v.z, v.w);
    }
}

/// Four floats that one instruction loads or stores.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Float4 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
    pub w: f32,
}

/// Returns four floats as one value: `make_float4`.
#[inline(always)]
pub fn float4(x: f32, y: f32, z: f32, w: f32) -> Float4 {
    Float4 { x, y, z, w }
}

/// Returns X\[row\]\[col\], or zero outside.
///
/// # Safety
/// X is a matrix of `rows` x `cols` and no index is negative, for all functions whose first parameter is X.
#[inline(always)]
pub unsafe fn load_or_zero(X: *const f32, rows: i32, cols: i32, row: i32, col: i32) -> f32 {
    if row < rows && col < cols { *X.at(row * cols + col) } else { 0.0 }
}

/// Stores X\[row\]\[col\] = v, if that lies inside.
#[inline(always)]
pub unsafe fn store_if_inside(X: *mut f32, rows: i32, cols: i32, row: i32, col: i32, v: f32) {
    if row < rows && col < cols {
        *X.at(row * cols + col) = v;
    }
}

/// Loads four floats in one instruction.
///
/// # Safety
/// `from` lies on 16 bytes, and the four floats are there.
#[inline(always)]
pub unsafe fn load4(from: *const f32) -> Float4 {
    *from.cast()
}

/// Stores four floats in one instruction.
///
/// # Safety
/// `to` lies on 16 bytes, and four floats may be written there.
#[inline(always)]
pub unsafe fn store4(to: *mut f32, v: Float4) {
    *to.cast() = v
}

/// Returns X\[row\]\[col .. col + 4\], zeros outside. One load where all four are there and rows start on 16 bytes.
/// `col` is a multiple of four.
#[inline(always)]
pub unsafe fn load4_or_zero(X: *const f32, rows: i32, cols: i32, row: i32, col: i32) -> Float4 {
    let (row, rows) = (opaque(row, i32::MAX), opaque(rows, i32::MAX));
    if row < rows && col < cols && cols % WIDTH == 0 {
        return load4(X.at(row * cols + col));
    }
    float4(
        load_or_zero(X, rows, cols, row, col + 0),
        load_or_zero(X, rows, cols, row, col + 1),
        load_or_zero(X, rows, cols, row, col + 2),
        load_or_zero(X, rows, cols, row, col + 3),
    )
}

/// Stores X\[row\]\[col .. col + 4\] = v, as far as that lies inside. One store where [`load4_or_zero`] needs one load.
#[inline(always)]
pub unsafe fn store4_if_inside(X: *mut f32, rows: i32, cols: i32, row: i32, col: i32, v: Float4) {
    if row < rows && col < cols && cols % WIDTH == 0 {
        store4(X.at(row * cols + col), v);
        return;
    }
    store_if_inside(X, rows, cols, row, col + 0, v.x);
    store_if_inside(X, rows, cols, row, col + 1, v.y);
    store_if_inside(X, rows, cols, row, col + 2, v.z);
    store_if_inside(X, rows, cols, row, col + 3, v.w);
}

/// Kernels have no panics: a test fails where a call of this function is left in their PTX.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
