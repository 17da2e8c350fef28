//! v05_bank_conflict_free.rs: no access to shared memory takes longer than it must.
//! The header of `kernels/v05_bank_conflict_free.cu`, its sibling in C++, has the idea, what to expect and the launch.
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
// SOLUTION(v05): pad the rows of a_tile so that the lanes of a warp store to 32 different banks
/// Floats after each row of a_tile.
const PAD: i32 = 4;
// STARTER| const PAD: i32 = 0; // floats after each row of a_tile
// SOLUTION_END
const _: () = assert!(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
const _: () = assert!(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v05_bank_conflict_free(
    M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32,
) {
    launch_bounds!(THREADS, 2); // two blocks per SM: at most 128 registers
    shared!(a_tile: f32[BK][BM + PAD], align 16); // transposed: a_tile[k][row]
    shared!(b_tile: f32[BK][BN], align 16);

    // ANCHOR: map
    let thread = thread_idx().x;
    let block_row = block_idx().y * BM; // the block's first row of C
    let block_col = block_idx().x * BN; // and column
    let thread_row = opaque(thread / (BN / TN), THREADS) * TM; // this thread's rows: thread_row .. + TM
    let thread_col = thread % (BN / TN); // and columns: thread_col, + BN / TN, ...

    let a_row = thread / (BK / WIDTH); // where in a_tile this thread's float4 goes
    let a_col = thread % (BK / WIDTH) * WIDTH;
    let b_row = thread / (BN / WIDTH); // and where in b_tile
    let b_col = thread % (BN / WIDTH) * WIDTH;
    // ANCHOR_END: map

    let mut acc = registers!([TM][TN]);
    let mut k0 = 0;
    while k0 < K {
        // ANCHOR: load
        let a = load4_or_zero(A, M, K, block_row + a_row, k0 + a_col);
        let b = load4_or_zero(B, K, N, k0 + b_row, block_col + b_col);
        // SOLUTION(v05): store the four elements of a to a_tile[k][row]
        *a_tile.at(a_col + 0, a_row) = a.x;
        *a_tile.at(a_col + 1, a_row) = a.y;
        *a_tile.at(a_col + 2, a_row) = a.z;
        *a_tile.at(a_col + 3, a_row) = a.w;
        // SOLUTION_END
        store4(b_tile.at(b_row, b_col), b);
        barrier(); // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load

        // ANCHOR: compute
        for k in 0..BK {
            for i in 0..TM {
                for j in 0..TN {
                    // SOLUTION(v05): take columns BN / TN apart: lanes then read neighbouring words
                    let b = *b_tile.at(k, thread_col + j * (BN / TN));
                    acc[i][j] = mul_add(*a_tile.at(k, thread_row + i), b, acc[i][j]);
                    // STARTER| let b = *b_tile.at(k, thread_col * TN + j);
                    // STARTER| acc[i][j] = mul_add(*a_tile.at(k, thread_row + i), b, acc[i][j]);
                    // SOLUTION_END
                }
            }
        }
        barrier(); // reads of a_tile and b_tile done -> the next tiles may overwrite
        // ANCHOR_END: compute
        k0 += BK;
    }

    // ANCHOR: store
    for i in 0..TM {
        for j in 0..TN {
            // SOLUTION(v05): say which column of C this is
            let col = block_col + thread_col + j * (BN / TN);
            // STARTER| let col = block_col + thread_col * TN + j;
            // SOLUTION_END
            store_if_inside(C, M, N, block_row + thread_row + i, col, acc[i][j]);
        }
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
