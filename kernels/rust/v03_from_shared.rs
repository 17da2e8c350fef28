//! v03_from_shared.rs: a thread owns a TM x TN tile of C in registers; its operands come from shared memory.
//! The header of `kernels/v03_from_shared.cu`, its sibling in C++, has the idea, what to expect and the launch.
//! Unsafe as any kernel: the launch passes matrices of these sizes. Every index is inside them or behind a guard.
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]
#![allow(non_snake_case, unsafe_op_in_unsafe_fn)] // matrices have capitals; a kernel is unsafe throughout

use prelude::*;

// Tile of C owned by one block; depth of the tiles of A and B.
const BM: i32 = 128;
const BN: i32 = 128;
const BK: i32 = 8;
// Tile of C owned by one thread.
const TM: i32 = 8;
const TN: i32 = 8;
const THREADS: i32 = (BM / TM) * (BN / TN);
const _: () = assert!(THREADS % BK == 0 && BM % (THREADS / BK) == 0, "the block loads whole rows of a_tile");
const _: () = assert!(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v03_from_shared(
    M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32,
) {
    launch_bounds!(THREADS, 2); // two blocks per SM: at most 128 registers
    shared!(a_tile: f32[BM][BK]);
    shared!(b_tile: f32[BK][BN]);

    // ANCHOR: map
    let thread = thread_idx().x;
    let block_row = block_idx().y * BM; // the block's first row of C
    let block_col = block_idx().x * BN; // and column
    let thread_row = opaque(thread / (BN / TN), THREADS) * TM; // this thread's rows: thread_row .. + TM
    let thread_col = opaque(thread % (BN / TN), THREADS) * TN; // and columns: thread_col .. + TN

    let a_row = thread / BK; // where in a_tile this thread starts to load
    let a_col = thread % BK;
    let b_row = thread / BN; // and where in b_tile
    let b_col = thread % BN;
    // ANCHOR_END: map

    let mut acc = registers!([TM][TN]);
    let mut k0 = 0;
    while k0 < K {
        // SOLUTION(v03): load a_tile and b_tile together with the other threads, then wait for them
        // ANCHOR: load
        for i in (0..BM).step_by((THREADS / BK) as usize) {
            *a_tile.at(a_row + i, a_col) = load_or_zero(A, M, K, block_row + a_row + i, k0 + a_col);
        }
        for i in (0..BK).step_by((THREADS / BN) as usize) {
            *b_tile.at(b_row + i, b_col) = load_or_zero(B, K, N, k0 + b_row + i, block_col + b_col);
        }
        barrier(); // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load
        // SOLUTION_END

        // SOLUTION(v03): add the products of this thread's rows and columns to acc, then wait
        // ANCHOR: compute
        for k in 0..BK {
            for i in 0..TM {
                for j in 0..TN {
                    acc[i][j] = mul_add(*a_tile.at(thread_row + i, k), *b_tile.at(k, thread_col + j), acc[i][j]);
                }
            }
        }
        barrier(); // reads of a_tile and b_tile done -> the next tiles may overwrite
        // ANCHOR_END: compute
        // SOLUTION_END
        k0 += BK;
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
