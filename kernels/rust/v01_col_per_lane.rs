//! v01_col_per_lane.rs: one thread per element of C; neighbouring lanes own neighbouring columns.
//! The header of `kernels/v01_col_per_lane.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

/// Edge of the square of C owned by one block.
const BLOCK: i32 = 32;
const THREADS: i32 = BLOCK * BLOCK;
const _: () = assert!(BLOCK == WARP_SIZE, "one warp must span exactly one row");

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v01_col_per_lane(
    M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32,
) {
    launch_bounds!(THREADS);
    // ANCHOR: map
    // SOLUTION(v01): let the 32 lanes of a warp own 32 neighbouring columns of one row of C
    let row = block_idx().y * BLOCK + thread_idx().x / BLOCK; // same for all 32 lanes
    let col = block_idx().x * BLOCK + thread_idx().x % BLOCK; // lane i -> first column + i
    // STARTER| let row = block_idx().y * BLOCK + thread_idx().x % BLOCK; // lane i -> first row + i
    // STARTER| let col = block_idx().x * BLOCK + thread_idx().x / BLOCK; // same for all 32 lanes
    // SOLUTION_END
    // ANCHOR_END: map
    if row >= M || col >= N {
        return; // safe: no barrier follows
    }

    // ANCHOR: compute
    let mut acc = 0.0;
    for k in 0..K {
        acc = mul_add(
            *A.row(row, K).at(k), // A[row][k]: one address for each row of the warp
            *B.row(k, N).at(col), // B[k][col]: one address for each column of the warp
            acc,
        );
    }
    *C.at(row * N + col) = acc;
    // ANCHOR_END: compute
}
// ANCHOR_END: kernel
