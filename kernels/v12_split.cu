// v12_split.cu: very small products: blocks that share the k of a tile.
//
// Where there are fewer tiles than multiprocessors, a tile's sums of K products are too long a way for one block.
// Changed since v12_small: who multiplies a tile: a cluster of two blocks, each half of the k. At the end each block
// gives half of its columns to the other through that one's shared memory, adds what it gets to the columns that it
// keeps, and stores these, straight from registers. Sums are not in the order of k then.
// Unchanged: the ring.
// Any M; N and K are multiples of 8. Boxes: 64 columns of A and as many rows as a tile of C, 64 x 64 of B, swizzle
// of 128 bytes.
// Launch: 288 threads for 128 rows, 160 for 64; two blocks per tile of C; shared memory as the launch says.
// arch: compute_90a
#include "v12_split.cuh"

// ANCHOR: kernel
template <typename T, typename Out>
__device__ __forceinline__ void multiply_block(int M, int N, int K, float alpha, const TensorMap& a_map,
                                               const TensorMap& b_map, Out* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int tiles_n = (N + T::BN - 1) / T::BN, tile = blockIdx.x / CLUSTER, rank = rank_in_cluster();
    const int block_row = tile / tiles_n * T::BM, block_col = tile % tiles_n * T::BN;
    const int all_steps = (K + T::BK - 1) / T::BK, first = all_steps * rank / CLUSTER;
    const int steps = all_steps * (rank + 1) / CLUSTER - first;  // of this block; none if K has only one

    if (threadIdx.x == 0) init_ring<T>(tiles_at, T::GROUPS);
    meet_in_cluster();  // barriers are made and published, the other block is there -> it may be written to

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int step = 0; step < steps; ++step, ring.advance()) {
            wait(ring.empty(), ring.parity);
            copy_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, (first + step) * T::BK);
        }
        return;
    }

    Ring<T, T::STAGES> ring(tiles_at, 0);
    float acc[T::SUMS] = {};
    if (steps > 0) multiply_steps<T>(acc, ring, steps, release_tiles);
    const unsigned exchange = tiles_at + Ring<T, T::STAGES>::EXCHANGE_AT;
    if (rank == 0) add_and_store<T, 0>(C, M, N, block_row, block_col, alpha, acc, exchange);
    else add_and_store<T, 1>(C, M, N, block_row, block_col, alpha, acc, exchange);
}

// Name; type of C; blocks on a multiprocessor; tile of C, pairs of tiles, bytes for sums of the other block.
#define SPLIT(NAME, OUT, BLOCKS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(Tiles<__VA_ARGS__>::MULTIPLIERS + PRODUCERS, BLOCKS)                 \
    __cluster_dims__(CLUSTER, 1, 1)                                                                                   \
    gemm_v12_split_##NAME(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,                  \
                          const __grid_constant__ TensorMap b_map, OUT* C)                                            \
    {                                                                                                                 \
        multiply_block<Tiles<__VA_ARGS__>>(M, N, K, alpha, a_map, b_map, C);                                          \
    }

SPLIT(128x128_f32, float, 1, 128, 128, 6, 32768)
SPLIT(128x128_bf16, Bf16, 1, 128, 128, 6, 32768)
SPLIT(64x64_f32, float, 3, 64, 64, 4, 8192)
SPLIT(64x64_bf16, Bf16, 3, 64, 64, 4, 8192)
// ANCHOR_END: kernel
