//! v08_transpose_coalesced.rs: one thread per element, and two ways to hand out the elements.
//! The header of `kernels/v08_transpose_coalesced.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

/// Edge of the square of in owned by one block; one warp spans one row of it.
const BLOCK: i32 = 32;

// ANCHOR: kernel
// ANCHOR: coalesced_reads
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn transpose_coalesced_reads(rows: i32, cols: i32, input: *const f32, out: *mut f32) {
    launch_bounds!(BLOCK * BLOCK);
    let row = block_idx().y * BLOCK + thread_idx().x / BLOCK; // same for all 32 lanes
    let col = block_idx().x * BLOCK + thread_idx().x % BLOCK; // lane i -> first column + i
    if row >= rows || col >= cols {
        return; // safe: no barrier follows
    }

    *out.at(col * rows + row) // out[col][row]: 32 rows of out per warp
            = *input.at(row * cols + col); // in[row][col]: 32 neighbours per warp
}
// ANCHOR_END: coalesced_reads

// ANCHOR: coalesced_writes
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn transpose_coalesced_writes(rows: i32, cols: i32, input: *const f32, out: *mut f32) {
    launch_bounds!(BLOCK * BLOCK);
    // SOLUTION(v08): hand out the elements so that neighbouring lanes own neighbours in a row of out
    let row = block_idx().y * BLOCK + thread_idx().x % BLOCK; // lane i -> first row + i
    let col = block_idx().x * BLOCK + thread_idx().x / BLOCK; // same for all 32 lanes
    // STARTER| let row = block_idx().y * BLOCK + thread_idx().x / BLOCK;
    // STARTER| let col = block_idx().x * BLOCK + thread_idx().x % BLOCK;
    // SOLUTION_END
    if row >= rows || col >= cols {
        return; // safe: no barrier follows
    }

    *out.at(col * rows + row) // out[col][row]: 32 neighbours per warp
            = *input.at(row * cols + col); // in[row][col]: 32 rows of in per warp
}
// ANCHOR_END: coalesced_writes
// ANCHOR_END: kernel
