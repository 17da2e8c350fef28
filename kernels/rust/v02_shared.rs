//! v02_shared.rs: a block brings tiles of A and B to shared memory, and its threads read them there.
//! The header of `kernels/v02_shared.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

// ANCHOR: kernel
#[inline(always)]
unsafe fn gemm<const BLOCK: i32>(M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32) {
    launch_bounds!(BLOCK * BLOCK);
    shared!(a_tile: f32[BLOCK][BLOCK]);
    shared!(b_tile: f32[BLOCK][BLOCK]);

    // ANCHOR: map
    let thread_row = opaque(thread_idx().x / BLOCK, BLOCK);
    let thread_col = thread_idx().x % BLOCK;
    let row = block_idx().y * BLOCK + thread_row;
    let col = block_idx().x * BLOCK + thread_col;
    // ANCHOR_END: map

    let mut acc = 0.0;
    let mut k0 = 0;
    while k0 < K {
        // SOLUTION(v02): load an element of each tile, wait, add the products of a row and a column, wait again
        // ANCHOR: load
        *a_tile.at(thread_row, thread_col) = load_or_zero(A, M, K, row, k0 + thread_col); // A[row][k0 + ..]
        *b_tile.at(thread_row, thread_col) = load_or_zero(B, K, N, k0 + thread_row, col); // B[k0 + ..][col]
        barrier(); // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load

        // ANCHOR: compute
        for k in 0..BLOCK {
            acc = mul_add(
                *a_tile.at(thread_row, k), // one address per row of threads
                *b_tile.at(k, thread_col), // neighbours
                acc,
            );
        }
        barrier(); // reads of a_tile and b_tile done -> the next tiles may overwrite
        // ANCHOR_END: compute
        // SOLUTION_END
        k0 += BLOCK;
    }
    store_if_inside(C, M, N, row, col, acc);
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v02_tile16(M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32) {
    gemm::<16>(M, N, K, A, B, C)
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v02_tile32(M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32) {
    gemm::<32>(M, N, K, A, B, C)
}
// ANCHOR_END: kernel
