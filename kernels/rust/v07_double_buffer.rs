//! v07_double_buffer.rs: while a block multiplies one pair of tiles, the next pair is on its way.
//! The header of `kernels/v07_double_buffer.cu`, its sibling in C++, has the idea, what to expect and the launch.
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
const _: () = assert!(BK % 2 == 0, "the last k of a tile and the first of the next use different fragments");
const _: () = assert!(TM == 2 * WIDTH && TN == 2 * WIDTH, "a fragment is two float4s");

// ANCHOR: outer
/// Adds a_frag * b_frag to acc: 64 multiply-adds for 16 words. Odd rows run backwards, so that each multiply-add
/// shares an operand with the one before, and reads fewer words from the register file.
#[inline(always)]
fn add_outer_product(
    acc: &mut Registers<Registers<f32, { TN as usize }>, { TM as usize }>, a_frag: &Registers<f32, { TM as usize }>,
    b_frag: &Registers<f32, { TN as usize }>,
) {
    for i in 0..TM {
        for step in 0..TN {
            let j = if i % 2 == 0 { step } else { TN - 1 - step };
            acc[i][j] = mul_add(a_frag[i], b_frag[j], acc[i][j]);
        }
    }
}
// ANCHOR_END: outer

// ANCHOR: kernel
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sgemm_v07_double_buffer(
    M: i32, N: i32, K: i32, A: *const f32, B: *const f32, C: *mut f32,
) {
    launch_bounds!(THREADS, 2); // two blocks per SM: at most 128 registers
    shared!(a_tile: f32[2][BK][BM + PAD], align 16); // transposed: a_tile[buffer][k][row]
    shared!(b_tile: f32[2][BK][BN], align 16);

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

    let mut a_next = load4_or_zero(A, M, K, block_row + a_row, a_col);
    let mut b_next = load4_or_zero(B, K, N, b_row, block_col + b_col);

    let (mut a_frag, mut b_frag) = (registers!([2][TM]), registers!([2][TN])); // the first product adds nothing
    let mut acc = registers!([TM][TN]);
    let mut buffer = 0;
    let mut k0 = 0;
    while k0 < K {
        // SOLUTION(v07): store the waiting tiles to this buffer, wait for the others, and load the next tiles
        // ANCHOR: load
        *a_tile.at(buffer, a_col + 0, a_row) = a_next.x;
        *a_tile.at(buffer, a_col + 1, a_row) = a_next.y;
        *a_tile.at(buffer, a_col + 2, a_row) = a_next.z;
        *a_tile.at(buffer, a_col + 3, a_row) = a_next.w;
        store4(b_tile.at(buffer, b_row, b_col), b_next);
        // writes to this buffer done -> reads may start; reads of the other one done -> writes may start
        barrier();

        a_next = load4_or_zero(A, M, K, block_row + a_row, k0 + BK + a_col);
        b_next = load4_or_zero(B, K, N, k0 + BK + b_row, block_col + b_col);
        // ANCHOR_END: load
        // SOLUTION_END

        // ANCHOR: compute
        for k in 0..BK {
            a_frag[k % 2].set4(0, load4(a_tile.at(buffer, k, thread_row)));
            a_frag[k % 2].set4(WIDTH, load4(a_tile.at(buffer, k, thread_row + WIDTH)));
            b_frag[k % 2].set4(0, load4(b_tile.at(buffer, k, thread_col)));
            b_frag[k % 2].set4(WIDTH, load4(b_tile.at(buffer, k, thread_col + BN / 2)));
            add_outer_product(&mut acc, &a_frag[(k + 1) % 2], &b_frag[(k + 1) % 2]); // of k - 1
        }
        buffer ^= 1;
        // ANCHOR_END: compute
        k0 += BK;
    }

    add_outer_product(&mut acc, &a_frag[(BK - 1) % 2], &b_frag[(BK - 1) % 2]); // of the last k

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
