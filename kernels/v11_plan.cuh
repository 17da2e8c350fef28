// v11_plan.cuh: a kernel from the constants of a plan, for v11_gemm.cu, and for those that `cargo xtask tune` tries.
//
// NAME, blocks on a multiprocessor, pairs of tiles in the ring, crew, then the constants of Tile.
#pragma once
#include "v11_copy.cuh"
#include "v11_rows.cuh"
#include "v11_shared_out.cuh"
#include "v11_words.cuh"
#include "v12_dependent.cuh"  // launches that overlap, which v12 explains

// ANCHOR: macros
#define BOXES(NAME, BLOCKS, STAGES, CREW, ...)                                                                        \
    extern "C" __global__ void __launch_bounds__(Tile<__VA_ARGS__>::THREADS + CREW::PRODUCERS, BLOCKS)                \
    sgemm_v11_boxes_##NAME(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,                 \
                           const __grid_constant__ TensorMap b_map, float beta, float* C, int whole)                  \
    {                                                                                                                 \
        wait_for_previous();                                                                                          \
        using T = Rows<Tile<__VA_ARGS__>>;                                                                            \
        multiply_shared_out<T, STAGES, CREW>(M, N, K, alpha, Boxes<T>{a_map, b_map}, beta, C, whole);                 \
    }

#define WORDS(NAME, BLOCKS, STAGES, CREW, ...)                                                                        \
    extern "C" __global__ void __launch_bounds__(Tile<__VA_ARGS__>::THREADS + CREW::PRODUCERS, BLOCKS)                \
    sgemm_v11_words_##NAME(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C,    \
                           int whole)                                                                                 \
    {                                                                                                                 \
        wait_for_previous();                                                                                          \
        using T = Rows<Tile<__VA_ARGS__>>;                                                                            \
        const Words<T, CREW::PRODUCERS> words(M, N, K, A, B, threadIdx.x - T::THREADS);                               \
        multiply_shared_out<T, STAGES, CREW>(M, N, K, alpha, words, beta, C, whole);                                  \
    }

#define THREADS(NAME, BLOCKS, STAGES, ...)                                                                            \
    extern "C" __global__ void __launch_bounds__(Tile<__VA_ARGS__>::THREADS, BLOCKS)                                  \
    sgemm_v11_threads_##NAME(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C,  \
                             int)                                                                                     \
    {                                                                                                                 \
        wait_for_previous();                                                                                          \
        multiply_tile<Tile<__VA_ARGS__>, STAGES>(M, N, K, alpha, A, B, beta, C);                                      \
    }
// ANCHOR_END: macros
