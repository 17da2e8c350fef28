//! v01_row_per_lane.rs: one thread per element of C; neighbouring lanes own neighbouring rows.
//! The header of `kernels/v01_row_per_lane.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

/// Edge of the square of C owned by one block.
const BLOCK: i32 = 32;
const THREADS: i32 = BLOCK * BLOCK;
const _: () = assert!(BLOCK == WARP_SIZE, "one warp must span exactly one column");

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v01_row_per_lane(
    M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32,
) {
    launch_bounds!(THREADS);
    // ANCHOR: map
    let row = block_idx().y * BLOCK + thread_idx().x % BLOCK; // lane i -> first row + i
    let col = block_idx().x * BLOCK + thread_idx().x / BLOCK; // same for all 32 lanes
    // ANCHOR_END: map
    if row >= M || col >= N {
        return; // safe: no barrier follows
    }

    // ANCHOR: compute
    let mut acc = 0.0;
    for k in 0..K {
        acc = mul_add(
            *A.row(row, K).at(k), // A[row][k]: 32 rows per warp
            *B.row(k, N).at(col), // B[k][col]: one address per warp
            acc,
        );
    }
    *C.at(row * N + col) = acc;
    // ANCHOR_END: compute
}
// ANCHOR_END: kernel
