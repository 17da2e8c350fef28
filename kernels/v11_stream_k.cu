// v11_stream_k.cu: blocks share out steps of k, not tiles.
//
// Changed since v11_producer: what a block does. 4096 x 4096 makes 512 tiles for 132 multiprocessors: 3 rounds, and
// a fourth with 116 tiles, in which 16 have nothing to do; 3072 x 3072 makes 2.2 rounds, which cost 3. Here the tiles
// of the last two are shared out by steps of k, so that all blocks end together. A tile that two blocks have parts
// of is put together by the one that has its end: the other leaves its sums in global memory.
// split_k beside it is the plain way, by the same code: a multiple of the tiles as blocks, each with part of K.
// Unchanged: everything else, but that sums of parts are added: k is no longer added from 0 upwards, and the bits of C
// are no longer those of the other kernels.
// Any M, N, K; rows of A and B that start on 16 bytes. Launch: THREADS threads, blocks and shared memory as
// the launch says.
// arch: compute_90a
// options: --ptxas-options=-O1
#include "v11_shared_out.cuh"

// ANCHOR: kernel
using Large = Tile<256, 128, 16, 8, 16, 1>;  // of C; k of a pair of tiles; of a thread; slices
using LargeCrew = Crew<128, 240, 24>;        // producers; registers of a thread that multiplies, that copies

extern "C" __global__ void __launch_bounds__(Large::THREADS + LargeCrew::PRODUCERS, 1)
sgemm_v11_stream_k(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                   const __grid_constant__ TensorMap b_map, float beta, float* C, int whole)
{
    multiply_shared_out<Large, 4, LargeCrew>(M, N, K, alpha, Boxes<Large>{a_map, b_map}, beta, C, whole);
}

extern "C" __global__ void __launch_bounds__(Large::THREADS + LargeCrew::PRODUCERS, 1)
sgemm_v11_split_k(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                  const __grid_constant__ TensorMap b_map, float beta, float* C)
{
    multiply_shared_out<Large, 4, LargeCrew>(M, N, K, alpha, Boxes<Large>{a_map, b_map}, beta, C, 0);
}
// ANCHOR_END: kernel
