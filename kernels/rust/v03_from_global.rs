//! v03_from_global.rs: a thread owns a TM x TN tile of C in registers; its operands come from global memory.
//! The header of `kernels/v03_from_global.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

// Tile of C owned by one block.
const BM: i32 = 128;
const BN: i32 = 128;
// Tile of C owned by one thread.
const TM: i32 = 8;
const TN: i32 = 8;
const THREADS: i32 = (BM / TM) * (BN / TN);

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v03_from_global(
    M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32,
) {
    launch_bounds!(THREADS);
    // ANCHOR: map
    let thread = thread_idx().x;
    let block_row = block_idx().y * BM; // the block's first row of C
    let block_col = block_idx().x * BN; // and column
    let thread_row = opaque(thread / (BN / TN), THREADS) * TM; // this thread's rows: thread_row .. + TM
    let thread_col = opaque(thread % (BN / TN), THREADS) * TN; // and columns: thread_col .. + TN
    // ANCHOR_END: map

    let mut acc = registers!([TM][TN]);
    for k in 0..K {
        // ANCHOR: compute
        let (mut a_frag, mut b_frag) = (registers!([TM]), registers!([TN]));
        for i in 0..TM {
            a_frag[i] = load_or_zero(A, M, K, block_row + thread_row + i, k);
        }
        for j in 0..TN {
            b_frag[j] = load_or_zero(B, K, N, k, block_col + thread_col + j);
        }
        for i in 0..TM {
            for j in 0..TN {
                acc[i][j] = mul_add(a_frag[i], b_frag[j], acc[i][j]);
            }
        }
        // ANCHOR_END: compute
    }

    // ANCHOR: store
    for i in 0..TM {
        for j in 0..TN {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, acc[i][j]);
        }
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
