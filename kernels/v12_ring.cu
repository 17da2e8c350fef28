// v12_ring.cu: a warp that copies, and two warpgroups that only multiply.
//
// Changed since v12_wgmma: no barrier for all. A ring of pairs of tiles lies between one thread, which copies ahead,
// and two warpgroups, which start the products of a step while those of the step before run. That thread has a warp of
// its own. Unlike in v11_producer, no registers change hands: there is one warp more, not four, and each of 288 threads
// may have 168 registers (one scheduler gets three of nine warps), enough for 128 sums and all the rest.
// Unchanged: the tile of C, tiles and products, sums straight to C.
// Any M; N and K are multiples of 8. Boxes: 64 x 128 of A, 64 x 64 of B, swizzle of 128 bytes.
// Launch: THREADS threads, one block per BM x BN of C, shared memory as the launch says.
// arch: compute_90a
#include "v12_ring.cuh"

// ANCHOR: kernel
using T = Tiles<128, 256, 4>;  // of C; pairs of tiles
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

template <typename Out>
__device__ __forceinline__ void multiply_block(int M, int N, int K, float alpha, const TensorMap& a_map,
                                               const TensorMap& b_map, Out* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int block_row = blockIdx.y * T::BM, block_col = blockIdx.x * T::BN;
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, T::GROUPS);
    __syncthreads();  // barriers are made -> all may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int step = 0; step < steps; ++step, ring.advance()) {
            wait(ring.empty(), ring.parity);
            copy_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK);
        }
        return;
    }

    Ring<T, T::STAGES> ring(tiles_at, 0);
    float acc[T::SUMS] = {};
    multiply_steps<T>(acc, ring, steps, release_tiles);
    store_tile<T>(C, M, N, block_row, block_col, alpha, acc);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_v12_ring_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                  const __grid_constant__ TensorMap b_map, float* C)
{
    multiply_block(M, N, K, alpha, a_map, b_map, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_v12_ring_bf16(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                   const __grid_constant__ TensorMap b_map, Bf16* C)
{
    multiply_block(M, N, K, alpha, a_map, b_map, C);
}
// ANCHOR_END: kernel
