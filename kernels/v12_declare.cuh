// v12_declare.cuh: entries of the library: tiles for each block (ACROSS), and pairs of blocks that stay (STAYS).
#pragma once
#include "v12_across.cuh"
#include "v12_gemm.cuh"

// ANCHOR: entries
#define PARAMETERS(OUT)                                                                                               \
    int M, int N, int K, const __grid_constant__ Epilogue epilogue, const __grid_constant__ TensorMap a_map,          \
        const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map, const OUT *old, OUT *C

#define ACROSS_TO(NAME, OUT, PER_SM, HOW, ...)                                                                        \
    extern "C" __global__ void __launch_bounds__(Across<__VA_ARGS__>::THREADS, PER_SM)                                \
    __cluster_dims__(Across<__VA_ARGS__>::BLOCKS, 1, 1) gemm_v12_##NAME(PARAMETERS(OUT))                              \
    {                                                                                                                 \
        multiply_tile_across<Across<__VA_ARGS__>, HOW>(M, N, K, epilogue, a_map, b_map, c_map, old, C);               \
    }
#define STAYS_TO(NAME, OUT, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(Plan<__VA_ARGS__>::THREADS) __cluster_dims__(CLUSTER, 1, 1)          \
    gemm_v12_##NAME(PARAMETERS(OUT))                                                                                  \
    {                                                                                                                 \
        multiply_staying<Plan<__VA_ARGS__>>(M, N, K, epilogue, a_map, b_map, c_map, old);                             \
    }
// ANCHOR_END: entries
