//! v08_transpose_tile.rs: by way of a tile in shared memory, so that both global sides run along rows.
//! The header of `kernels/v08_transpose_tile.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

/// Edge of the tile; one warp spans one row of it.
const TILE: i32 = 32;

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn transpose_tile(rows: i32, cols: i32, input: *const f32, out: *mut f32) {
    launch_bounds!(TILE * TILE);
    shared!(tile: f32[TILE][TILE]);

    let thread_row = thread_idx().x / TILE; // same for all 32 lanes
    let thread_col = thread_idx().x % TILE; // the lane

    // ANCHOR: load
    let row = block_idx().y * TILE + thread_row;
    let col = block_idx().x * TILE + thread_col;
    if row < rows && col < cols {
        *tile.at(thread_row, thread_col) = *input.at(row * cols + col); // in[row][col]: 32 neighbours
    }
    barrier(); // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    // Tile (y, x) of in is tile (x, y) of out: the corners swap, and so do the places inside.
    // SOLUTION(v08): find this thread's element of out, lanes along a row of out, and take it from the tile
    let out_row = block_idx().x * TILE + thread_row;
    let out_col = block_idx().y * TILE + thread_col;
    if out_row < cols && out_col < rows {
        *out.at(out_row * rows + out_col) = *tile.at(thread_col, thread_row); // a column of the tile: one bank
    }
    // SOLUTION_END
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
