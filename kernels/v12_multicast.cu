// v12_multicast.cu: two blocks that read B once.
//
// Changed since v12_persistent: blocks come in clusters of two, one below the other in C. They need the same tiles of
// B: each copies half of the k of one, to both (multicast). So L2 gives two thirds of the bytes. A pair of tiles may be
// overwritten when the warpgroups of both blocks have read it: each arrives at the barrier of both.
// Unchanged: the tile of C of a block, the ring, the order of tiles, now of pairs of them, sums straight to C.
// Any M; N and K are multiples of 8. Boxes: 64 x 128 of A, 64 x 32 of B, swizzle of 128 bytes.
// Launch: THREADS threads, an even number of blocks: as many as multiprocessors, or two for each pair of tiles if these
// are fewer; shared memory as the launch says.
// arch: compute_90a
#include "v12_cluster.cuh"
#include "v12_order.cuh"

// ANCHOR: kernel
using T = Tiles<128, 256, 4>;  // of C; pairs of tiles
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

template <typename Out>
__device__ __forceinline__ void multiply_blocks(int M, int N, int K, float alpha, const TensorMap& a_map,
                                                const TensorMap& b_map, Out* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, CLUSTER * T::GROUPS);
    meet_in_cluster();  // barriers are made and published -> both blocks may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
            const int2 at = order.place(tile);
            const int block_row = (at.x * CLUSTER + rank) * T::BM, block_col = at.y * T::BN;
            for (int step = 0; step < steps; ++step, ring.advance()) {
                wait(ring.empty(), ring.parity);
                copy_shared_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK, rank);
            }
        }
        return;
    }

    Ring<T, T::STAGES> ring(tiles_at, 0);
    for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
        const int2 at = order.place(tile);
        float acc[T::SUMS] = {};
        multiply_steps<T>(acc, ring, steps, release_shared_tiles);
        store_tile<T>(C, M, N, (at.x * CLUSTER + rank) * T::BM, at.y * T::BN, alpha, acc);
    }
    meet_in_cluster();  // the other block arrives here no more -> this one may end
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_multicast_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                       const __grid_constant__ TensorMap b_map, float* C)
{
    multiply_blocks(M, N, K, alpha, a_map, b_map, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_multicast_bf16(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map, Bf16* C)
{
    multiply_blocks(M, N, K, alpha, a_map, b_map, C);
}
// ANCHOR_END: kernel
