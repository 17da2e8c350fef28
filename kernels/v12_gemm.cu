// v12_gemm.cu: kernels of a library for products of bf16 of any shape; the host (steps/v12/src/gemm.rs) chooses one.
//
// New since the kernels of the ladder: the next launch begins while this one ends; tiles that lie across, with any
// multiple of 16 rows; the epilogue. `tile`: a tile for each block; `two`: of which two run on a multiprocessor.
// `share`: blocks of a cluster share what they copy. `split`: they share the k of a tile. `turns` and `fused`, if
// nothing is shared: pairs that take one tile after another, as v12_store and v12_ping_pong. `any`, `split`: rows of C
// start anywhere; of the others on 16 bytes. `any`, `split`, `fused`: the whole epilogue; of the others alpha alone.
// C = activation(alpha * A * B + beta * old + bias), any M, N, K. Launch: as the host's table of plans says.
// arch: compute_90a
#include "v12_declare.cuh"

// ANCHOR: kernel
#define ACROSS(NAME, PER_SM, HOW, ...)                                     \
    ACROSS_TO(NAME##_f32, float, PER_SM, HOW, Bf16, false, __VA_ARGS__)    \
    ACROSS_TO(NAME##_bf16, Bf16, PER_SM, HOW, Bf16, false, __VA_ARGS__)

#define STAYS(NAME, ...) STAYS_TO(NAME##_f32, float, __VA_ARGS__) STAYS_TO(NAME##_bf16, Bf16, __VA_ARGS__)

//     name, blocks on a multiprocessor, how C leaves, rows, columns / 64, pairs in the ring, cluster
ACROSS(any_16x64, 2, ANYWHERE, 16, 1, 10)
ACROSS(any_64x64, 1, ANYWHERE, 64, 1, 13)
ACROSS(any_96x64, 2, ANYWHERE, 96, 1, 5)
ACROSS(any_128x128, 1, ANYWHERE, 128, 2, 7)
ACROSS(tile_48x64, 1, BOXES, 48, 1, 14)
ACROSS(tile_80x64, 1, BOXES, 80, 1, 11)
ACROSS(two_96x64, 2, BOXES, 96, 1, 5)
ACROSS(tile_112x64, 1, BOXES, 112, 1, 10)
ACROSS(tile_80x128, 1, BOXES, 80, 2, 8)
ACROSS(tile_128x128, 1, BOXES, 128, 2, 7)
ACROSS(share_2x1_64x128, 1, BOXES, 64, 2, 9, 2, 1)
ACROSS(share_2x1_128x64, 1, BOXES, 128, 1, 9, 2, 1)
ACROSS(share_2x2_112x64, 1, BOXES, 112, 1, 10, 2, 2)
ACROSS(share_4x1_80x64, 1, BOXES, 80, 1, 11, 4, 1)
ACROSS(share_1x2_112x128, 1, BOXES, 112, 2, 7, 1, 2)
ACROSS(share_1x4_128x128, 1, BOXES, 128, 2, 7, 1, 4)
ACROSS(share_2x1_96x192, 1, BOXES, 96, 3, 6, 2, 1)
ACROSS(share_4x1_96x192, 1, BOXES, 96, 3, 6, 4, 1)
ACROSS(share_2x1_144x192, 1, BOXES, 144, 3, 5, 2, 1)
ACROSS(share_1x2_144x192, 1, BOXES, 144, 3, 5, 1, 2)
ACROSS(share_2x1_192x192, 1, BOXES, 192, 3, 4, 2, 1)
ACROSS(fused_2x1_128x64, 1, FUSED, 128, 1, 9, 2, 1)
ACROSS(fused_2x1_96x192, 1, FUSED, 96, 3, 6, 2, 1)
ACROSS(split_2_16x64, 2, ANYWHERE, 16, 1, 10, 1, 1, 2)
ACROSS(split_2_32x64, 1, ANYWHERE, 32, 1, 16, 1, 1, 2)
ACROSS(split_2_64x64, 1, ANYWHERE, 64, 1, 12, 1, 1, 2)
ACROSS(split_4_64x64, 2, ANYWHERE, 64, 1, 6, 1, 1, 4)
ACROSS(split_8_64x64, 2, ANYWHERE, 64, 1, 6, 1, 1, 8)
ACROSS(split_2_128x128, 1, ANYWHERE, 128, 2, 6, 1, 1, 2)
ACROSS(split_4_128x128, 1, ANYWHERE, 128, 2, 5, 1, 1, 4)

//    name, tiles (of C, pairs in the ring, bytes of boxes), turns, fused
STAYS(turns_128x128, Tiles<128, 128, 6, 4 * BOX_OF_C>, true)
STAYS(fused_128x128, Tiles<128, 128, 6, 4 * BOX_OF_C>, true, true)
STAYS(fused_128x256, Tiles<128, 256, 4, 4 * BOX_OF_C>, false, true)
STAYS(fused_128x192, Tiles<128, 192, 4, 4 * BOX_OF_C>, true, true)
// ANCHOR_END: kernel
