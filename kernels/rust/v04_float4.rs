//! v04_float4.rs: every access to global memory moves 16 bytes per lane.
//! The header of `kernels/v04_float4.cu`, its sibling in C++, has the idea, what to expect and the launch.
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
const _: () = assert!(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
const _: () = assert!(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v04_float4(M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32) {
    launch_bounds!(THREADS, 2); // two blocks per SM: at most 128 registers
    shared!(a_tile: f32[BM][BK], align 16);
    shared!(b_tile: f32[BK][BN], align 16);

    // ANCHOR: map
    let thread = thread_idx().x;
    let block_row = block_idx().y * BM; // the block's first row of C
    let block_col = block_idx().x * BN; // and column
    let thread_row = opaque(thread / (BN / TN), THREADS) * TM; // this thread's rows: thread_row .. + TM
    let thread_col = opaque(thread % (BN / TN), THREADS) * TN; // and columns: thread_col .. + TN

    let a_row = thread / (BK / WIDTH); // where in a_tile this thread's float4 goes
    let a_col = thread % (BK / WIDTH) * WIDTH;
    let b_row = thread / (BN / WIDTH); // and where in b_tile
    let b_col = thread % (BN / WIDTH) * WIDTH;
    // ANCHOR_END: map

    let mut acc = registers!([TM][TN]);
    let mut k0 = 0;
    while k0 < K {
        // SOLUTION(v04): load one float4 of A and one of B, store each to its tile as a float4, then wait
        // ANCHOR: load
        let a = load4_or_zero(A, M, K, block_row + a_row, k0 + a_col);
        let b = load4_or_zero(B, K, N, k0 + b_row, block_col + b_col);
        store4(a_tile.at(a_row, a_col), a);
        store4(b_tile.at(b_row, b_col), b);
        barrier(); // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load
        // SOLUTION_END

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
        k0 += BK;
    }

    // SOLUTION(v04): store this thread's tile of C, four neighbouring columns at a time
    // ANCHOR: store
    for i in 0..TM {
        for j in (0..TN).step_by(WIDTH as usize) {
            let c = float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, c);
        }
    }
    // ANCHOR_END: store
    // SOLUTION_END
}
// ANCHOR_END: kernel
