// ranks_fixed.cu: `warpgroups_fixed.cu` in clusters of two blocks, each of which has its own tiles.
//
// arch: compute_90a
// block: 384
// shared: 98352
// product: M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C
// launch: blocks 4 whole 0 shape 256 256 128
// launch: blocks 2 whole 0 shape 200 136 264
// expect: clean
#include "../../../kernels/v11_barrier.cuh"

extern "C" __global__ void __cluster_dims__(2, 1, 1)
product(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
        float* C);

#include "warpgroups_fixed.cu"
