// v12_gemm.cu: kernels of a library for products of bf16 of any shape; the host (steps/v12/src/gemm.rs) chooses one.
//
// New since the kernels of the ladder: the next launch begins while this one ends; tiles of 192 x 96; C anywhere; the
// epilogue. `tile`: a tile for each block. `pair`: two blocks, one below the other, share what they copy of B.
// `stays`, `turns`: pairs that take one tile after another, as v12_store and v12_ping_pong. `split`: the k of a tile
// shared by the blocks of a cluster. `any`, `split`: rows of C start anywhere; of the others on 16 bytes. `fused`,
// `any`, `split`: the whole epilogue; of the others alpha alone.
// C = activation(alpha * A * B + beta * old + bias), any M, N, K. Launch: as the host's table of plans says.
// arch: compute_90a
#include "v12_gemm.cuh"

// ANCHOR: kernel
#define PARAMETERS(OUT)                                                                                               \
    int M, int N, int K, const __grid_constant__ Epilogue epilogue, const __grid_constant__ TensorMap a_map,          \
        const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map, const OUT *old, OUT *C

#define KERNEL(NAME, OUT, PER_SM, ...)                                                                                \
    extern "C" __global__ void __launch_bounds__(Plan<__VA_ARGS__>::THREADS, PER_SM)                                  \
    __cluster_dims__(Plan<__VA_ARGS__>::BLOCKS, 1, 1) gemm_v12_##NAME(PARAMETERS(OUT))                                \
    {                                                                                                                 \
        multiply_by_plan<Plan<__VA_ARGS__>>(M, N, K, epilogue, a_map, b_map, c_map, old, C);                          \
    }
#define PLAN(NAME, ...) KERNEL(NAME##_f32, float, __VA_ARGS__) KERNEL(NAME##_bf16, Bf16, __VA_ARGS__)

#define SPLIT_KERNEL(NAME, OUT, PER_SM, BLOCKS, ...)                                                                  \
    extern "C" __global__ void __launch_bounds__(Tiles<__VA_ARGS__>::MULTIPLIERS + PRODUCERS, PER_SM)                 \
    __cluster_dims__(BLOCKS, 1, 1) gemm_v12_##NAME(PARAMETERS(OUT))                                                   \
    {                                                                                                                 \
        multiply_split<Tiles<__VA_ARGS__>, BLOCKS>(M, N, K, epilogue, a_map, b_map, old, C);                          \
    }
#define SPLIT(NAME, ...) SPLIT_KERNEL(NAME##_f32, float, __VA_ARGS__) SPLIT_KERNEL(NAME##_bf16, Bf16, __VA_ARGS__)

using Half96 = Tiles96<5>;

//   name, blocks on a multiprocessor, tiles (of C, pairs in the ring, bytes of boxes), cluster, turns, how C leaves
PLAN(tile_64x64, 3, Tiles<64, 64, 4>, 1, false, BOXES)
PLAN(tile_64x128, 1, Tiles<64, 128, 9>, 1, false, BOXES)
PLAN(two_64x128, 2, Tiles<64, 128, 4>, 1, false, BOXES)
PLAN(tile_128x128, 1, Tiles<128, 128, 7>, 1, false, BOXES)
KERNEL(tile_192x96_f32, float, 1, Half96, 1, false, BOXES)
KERNEL(tile_192x96_bf16, Bf16, 1, Half96, 1, false, HALF_BOXES)
PLAN(pair_64x128, 1, Tiles<64, 128, 8>, 2, false, BOXES)
PLAN(stays_128x256, 1, Tiles<128, 256, 4, 4 * BOX_OF_C>, 2, false, BOXES)
PLAN(turns_128x128, 1, Tiles<128, 128, 6, 4 * BOX_OF_C>, 2, true, BOXES)
PLAN(fused_128x128, 1, Tiles<128, 128, 6, 4 * BOX_OF_C>, 2, true, BOXES, true)
PLAN(fused_128x192, 1, Tiles<128, 192, 4, 4 * BOX_OF_C>, 2, true, BOXES, true)
PLAN(any_128x128, 1, Tiles<128, 128, 7>, 1, false, REGISTERS)

//   name, blocks on a multiprocessor, cluster, tile of C, pairs in the ring, bytes for the parts of the others
SPLIT(split_4_64x64, 2, 4, 64, 64, 4, 12288)
SPLIT(split_8_64x64, 2, 8, 64, 64, 4, 14336)
SPLIT(split_2_64x128, 2, 2, 64, 128, 4, 16384)
SPLIT(split_4_64x128, 2, 4, 64, 128, 3, 24576)
SPLIT(split_2_128x128, 1, 2, 128, 128, 6, 32768)
SPLIT(split_4_128x128, 1, 4, 128, 128, 5, 49152)
// ANCHOR_END: kernel
