//! v06_outer_product.rs: per k, a thread takes 8 words of A and 8 of B and adds their outer product.
//! The header of `kernels/v06_outer_product.cu`, its sibling in C++, has the idea, what to expect and the launch.
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
/// Floats after each row of a_tile.
const PAD: i32 = 4;
const _: () = assert!(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
const _: () = assert!(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");
const _: () = assert!(TM == 2 * WIDTH && TN == 2 * WIDTH, "a fragment is two float4s");

// ANCHOR: outer
/// Adds a_frag * b_frag to acc: 64 multiply-adds for 16 words. Odd rows run backwards, so that each multiply-add
/// shares an operand with the one before, and reads fewer words from the register file.
#[inline(always)]
fn add_outer_product(
    acc: &mut Registers<Registers<f32, { TN as usize }>, { TM as usize }>, a_frag: &Registers<f32, { TM as usize }>,
    b_frag: &Registers<f32, { TN as usize }>,
) {
    // SOLUTION(v06): multiply every element of a_frag by every element of b_frag, there and back
    for i in 0..TM {
        for step in 0..TN {
            let j = if i % 2 == 0 { step } else { TN - 1 - step };
            acc[i][j] = mul_add(a_frag[i], b_frag[j], acc[i][j]);
        }
    }
    // SOLUTION_END
}
// ANCHOR_END: outer

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v06_outer_product(
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
    let thread_col = thread % (BN / TN) * WIDTH; // and columns: thread_col .. + 4, and BN / 2 further

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
        *a_tile.at(a_col + 0, a_row) = a.x;
        *a_tile.at(a_col + 1, a_row) = a.y;
        *a_tile.at(a_col + 2, a_row) = a.z;
        *a_tile.at(a_col + 3, a_row) = a.w;
        store4(b_tile.at(b_row, b_col), b);
        barrier(); // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load

        // ANCHOR: compute
        for k in 0..BK {
            let (mut a_frag, mut b_frag) = (registers!([TM]), registers!([TN]));
            // SOLUTION(v06): fill both fragments by two 128-bit loads each
            a_frag.set4(0, load4(a_tile.at(k, thread_row)));
            a_frag.set4(WIDTH, load4(a_tile.at(k, thread_row + WIDTH)));
            b_frag.set4(0, load4(b_tile.at(k, thread_col)));
            b_frag.set4(WIDTH, load4(b_tile.at(k, thread_col + BN / 2)));
            // SOLUTION_END
            add_outer_product(&mut acc, &a_frag, &b_frag);
        }
        barrier(); // reads of a_tile and b_tile done -> the next tiles may overwrite
        // ANCHOR_END: compute
        k0 += BK;
    }

    // ANCHOR: store
    for i in 0..TM {
        for j in (0..TN).step_by(WIDTH as usize) {
            let col = block_col + thread_col + j / WIDTH * (BN / 2);
            let c = float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4_if_inside(C, M, N, block_row + thread_row + i, col, c);
        }
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
