// v12_wgmma.cu: tensor cores, four warps at a time, straight from shared memory (wgmma).
//
// Changed since v12_mma_ring: a warpgroup multiplies 64 x 16 of A by 16 x 256 of B in one instruction, and goes on
// while that runs. No fragments: a descriptor says where the factors lie in shared memory, which is as boxes of tensor
// maps bring them. Each warpgroup owns 64 x 256 of C. Two pairs of tiles: one comes while the other is multiplied.
// Unchanged: bf16, sums of float, alpha, guards when C is stored.
// Any M; N and K are multiples of 8. Boxes: 64 x 128 of A, 64 x 64 of B, swizzle of 128 bytes.
// Launch: THREADS threads, one block per BM x BN of C, shared memory as the launch says.
// arch: compute_90a
#include "v11_ring.cuh"
#include "v12_tiles.cuh"

// ANCHOR: kernel
using T = Tiles<128, 256, 2>;  // of C; pairs of tiles
constexpr int THREADS = T::MULTIPLIERS;

template <typename Out>
__device__ __forceinline__ void multiply_block(int M, int N, int K, float alpha, const TensorMap& a_map,
                                               const TensorMap& b_map, Out* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int block_row = blockIdx.y * T::BM, block_col = blockIdx.x * T::BN;

    Ring<T, T::STAGES> next(tiles_at, 0), ring(tiles_at, 0);  // to copy; to multiply
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < T::STAGES; ++stage, next.advance()) init_barrier(next.full(), 1);
        publish_barriers();
        copy_tiles<T>(next.tiles(), next.full(), a_map, b_map, block_row, block_col, 0);
    }
    next.advance();
    __syncthreads();  // barriers are made -> all may wait

    float acc[T::SUMS] = {};
    for (int k0 = 0; k0 < K; k0 += T::BK) {
        if (threadIdx.x == 0 && k0 + T::BK < K)
            copy_tiles<T>(next.tiles(), next.full(), a_map, b_map, block_row, block_col, k0 + T::BK);
        next.advance();
        wait(ring.full(), ring.parity);
        multiply_tiles<T>(acc, ring.tiles(), k0);
        wait_products<0>();
        ring.advance();
        __syncthreads();  // all have read these tiles -> they may be overwritten
    }
    store_tile<T>(C, M, N, block_row, block_col, alpha, acc);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_v12_wgmma_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                   const __grid_constant__ TensorMap b_map, float* C)
{
    multiply_block(M, N, K, alpha, a_map, b_map, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_v12_wgmma_bf16(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                    const __grid_constant__ TensorMap b_map, Bf16* C)
{
    multiply_block(M, N, K, alpha, a_map, b_map, C);
}
// ANCHOR_END: kernel
