//! v08_transpose_swizzled.rs: the tile is square again, and each of its rows is shuffled in its own way.
//! The header of `kernels/v08_transpose_swizzled.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

/// Edge of the tile; one warp spans one row of it.
const TILE: i32 = 32;
const _: () = assert!((TILE & (TILE - 1)) == 0, "c ^ r must stay inside the row");

// ANCHOR: kernel
// ANCHOR: swizzle
/// Returns the column of the tile in which element (r, c) lies.
#[inline(always)]
const fn swizzled(r: i32, c: i32) -> i32 {
    // SOLUTION(v08): permute the columns of each row so that a column of elements meets 32 different banks
    c ^ r
    // STARTER| c
    // SOLUTION_END
}
// ANCHOR_END: swizzle

// ANCHOR: proof
/// Tries every element while the kernel is compiled: a row keeps its columns, and a column lies in 32 banks.
const _: () = {
    let mut r = 0;
    while r < TILE {
        let (mut columns, mut banks, mut c) = (0u32, 0u32, 0);
        while c < TILE {
            columns |= 1 << swizzled(r, c);
            banks |= 1 << (swizzled(c, r) % 32);
            c += 1;
        }
        assert!(columns == u32::MAX, "two elements of a row lie in one column");
        assert!(banks == u32::MAX, "two elements of a column lie in one bank");
        r += 1;
    }
};
// ANCHOR_END: proof

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn transpose_swizzled(rows: i32, cols: i32, input: *const f32, out: *mut f32) {
    launch_bounds!(TILE * TILE);
    shared!(tile: f32[TILE][TILE]);

    let thread_row = thread_idx().x / TILE; // same for all 32 lanes
    let thread_col = thread_idx().x % TILE; // the lane

    // ANCHOR: load
    let row = block_idx().y * TILE + thread_row;
    let col = block_idx().x * TILE + thread_col;
    if row < rows && col < cols {
        *tile.at(thread_row, swizzled(thread_row, thread_col)) = *input.at(row * cols + col); // 32 neighbours
    }
    barrier(); // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    let out_row = block_idx().x * TILE + thread_row;
    let out_col = block_idx().y * TILE + thread_col;
    if out_row < cols && out_col < rows {
        *out.at(out_row * rows + out_col) = *tile.at(thread_col, swizzled(thread_col, thread_row));
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
