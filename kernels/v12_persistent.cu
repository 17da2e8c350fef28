// v12_persistent.cu: blocks that stay.
//
// Changed since v12_ring: a block multiplies one tile of C after another. The thread that copies does not wait for the
// end of a tile: while the sums of one are stored, the ring fills with the first tiles of the next. And the order of
// tiles is ours: those that run together share rows of A and columns of B, so that L2 has most of their bytes.
// Unchanged: the tile of C, the ring, sums straight to C.
// Any M; N and K are multiples of 8. Boxes: 64 x 128 of A, 64 x 64 of B, swizzle of 128 bytes.
// Launch: THREADS threads, as many blocks as multiprocessors, or as tiles if these are fewer; shared memory as the
// launch says.
// arch: compute_90a
#include "v12_order.cuh"
#include "v12_ring.cuh"

// ANCHOR: kernel
using T = Tiles<128, 256, 4>;  // of C; pairs of tiles
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

template <typename Out>
__device__ __forceinline__ void multiply_blocks(int M, int N, int K, float alpha, const TensorMap& a_map,
                                                const TensorMap& b_map, Out* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const Order order = {(M + T::BM - 1) / T::BM, (N + T::BN - 1) / T::BN};
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, T::GROUPS);
    __syncthreads();  // barriers are made -> all may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
            const int2 at = order.place(tile);
            for (int step = 0; step < steps; ++step, ring.advance()) {
                wait(ring.empty(), ring.parity);
                copy_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, at.x * T::BM, at.y * T::BN, step * T::BK);
            }
        }
        return;
    }

    Ring<T, T::STAGES> ring(tiles_at, 0);
    for (int tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
        const int2 at = order.place(tile);
        float acc[T::SUMS] = {};
        multiply_steps<T>(acc, ring, steps, release_tiles);
        store_tile<T>(C, M, N, at.x * T::BM, at.y * T::BN, alpha, acc);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_v12_persistent_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map, float* C)
{
    multiply_blocks(M, N, K, alpha, a_map, b_map, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_v12_persistent_bf16(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                         const __grid_constant__ TensorMap b_map, Bf16* C)
{
    multiply_blocks(M, N, K, alpha, a_map, b_map, C);
}
// ANCHOR_END: kernel
