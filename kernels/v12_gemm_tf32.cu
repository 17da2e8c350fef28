// v12_gemm_tf32.cu: kernels of a library for products of TF32 of any shape: v12_gemm for floats.
//
// Changed since v12_gemm: numbers are FP32, which copies round to TF32 on the way to shared memory, as the host's maps
// say. Products take B only with neighbouring k side by side: as N x K; other matrices are packed first. A step is 32
// k. Fewer plans. Unchanged: tiles, clusters, copies, epilogues.
// C = activation(alpha * A * B + beta * old + bias), any M, N, K. Launch: as the host's table of plans says.
// arch: compute_90a
#include "v12_declare.cuh"

// ANCHOR: kernel
#define ACROSS(NAME, PER_SM, HOW, ...) ACROSS_TO(tf32_##NAME##_f32, float, PER_SM, HOW, float, false, __VA_ARGS__)
#define STAYS(NAME, ...) STAYS_TO(tf32_##NAME##_f32, float, __VA_ARGS__)

//     name, blocks on a multiprocessor, how C leaves, rows, columns / 64, pairs in the ring, cluster
ACROSS(any_16x64, 2, ANYWHERE, 16, 1, 10)
ACROSS(any_64x64, 1, ANYWHERE, 64, 1, 13)
ACROSS(any_128x128, 1, ANYWHERE, 128, 2, 7)
ACROSS(share_2x1_64x128, 1, BOXES, 64, 2, 9, 2, 1)
ACROSS(share_2x1_96x192, 1, BOXES, 96, 3, 6, 2, 1)
ACROSS(split_4_64x64, 2, ANYWHERE, 64, 1, 6, 1, 1, 4)

//    name, tiles (of C, pairs in the ring, bytes of boxes), turns, fused
STAYS(stays_128x256, Tiles<128, 256, 4, 4 * BOX_OF_C, float>, false, true)
// ANCHOR_END: kernel
