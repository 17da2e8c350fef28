// v12_gemm_e4m3.cu: kernels of a library for products of FP8 (e4m3) of any shape: v12_gemm for numbers of 8 bits.
//
// Changed since v12_gemm_tf32: numbers have 8 bits, and a step is 128 k. `e4m3`: sums leave the unit after each step,
// as in v12_fp8. `e4m3_fast`: all sums stay there. A tile with 256 columns takes a step in two halves:
// a thread has no registers for all sums twice. `pairs`: warpgroups take tiles in turns if all sums stay; otherwise
// they have no registers for that, and work on one. Unchanged: B as N x K, tiles, clusters, copies, epilogues.
// C = activation(alpha * A * B + beta * old + bias), any M, N, K. Launch: as the host's table of plans says.
// arch: compute_90a
#include "v12_declare.cuh"

// ANCHOR: kernel
#define ACROSS(NAME, PER_SM, HOW, ...)                                               \
    ACROSS_TO(e4m3_##NAME##_f32, float, PER_SM, HOW, E4m3, true, __VA_ARGS__)        \
    ACROSS_TO(e4m3_##NAME##_bf16, Bf16, PER_SM, HOW, E4m3, true, __VA_ARGS__)        \
    ACROSS_TO(e4m3_fast_##NAME##_f32, float, PER_SM, HOW, E4m3, false, __VA_ARGS__)  \
    ACROSS_TO(e4m3_fast_##NAME##_bf16, Bf16, PER_SM, HOW, E4m3, false, __VA_ARGS__)
#define PAIRS(NAME, TURNS, ...)                                               \
    STAYS_TO(e4m3_##NAME##_f32, float, __VA_ARGS__, false, true, true)        \
    STAYS_TO(e4m3_##NAME##_bf16, Bf16, __VA_ARGS__, false, true, true)        \
    STAYS_TO(e4m3_fast_##NAME##_f32, float, __VA_ARGS__, TURNS, true, false)  \
    STAYS_TO(e4m3_fast_##NAME##_bf16, Bf16, __VA_ARGS__, TURNS, true, false)

//     name, blocks on a multiprocessor, how C leaves, rows, columns / 64, pairs in the ring, cluster
ACROSS(any_16x64, 2, ANYWHERE, 16, 1, 10)
ACROSS(any_64x64, 1, ANYWHERE, 64, 1, 13)
ACROSS(any_128x128, 1, ANYWHERE, 128, 2, 7)
ACROSS(tile_128x128, 1, BOXES, 128, 2, 7)
ACROSS(share_2x1_64x128, 1, BOXES, 64, 2, 9, 2, 1)
ACROSS(share_2x1_96x192, 1, BOXES, 96, 3, 6, 2, 1)
ACROSS(split_4_64x64, 2, ANYWHERE, 64, 1, 6, 1, 1, 4)

//    name, turns if no sums are promoted, tiles (of C, pairs in the ring, bytes of boxes)
PAIRS(pairs_128x192, true, Tiles<128, 192, 4, 4 * BOX_OF_C, E4m3>)
PAIRS(stays_128x256, false, Tiles<128, 256, 4, 4 * BOX_OF_C, E4m3>)
// ANCHOR_END: kernel
