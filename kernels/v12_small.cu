// v12_small.cu: small products: smaller tiles, and blocks that share the k of a tile.
//
// A product of 1024 has 32 tiles of 128 x 256: most multiprocessors would have none.
// Changed since v12_ring: the tile, and with `split`, who multiplies it: a cluster of two blocks, each half of the k.
// At the end each block gives half of its columns to the other through that one's shared memory, adds what it gets to
// the columns that it keeps, and stores these. Sums are not in the order of k then.
// Unchanged: the ring, sums straight to C. More than 40 lines are new: one kernel has become a table of them.
// Any M; N and K are multiples of 8. Boxes: 64 columns of A and as many rows as a tile of C, 64 x 64 of B, swizzle
// of 128 bytes.
// Launch: 288 threads for 128 rows, 160 for 64; one block per tile of C, with `split` two; shared memory as the launch
// says.
// arch: compute_90a
#include "v12_split.cuh"

// ANCHOR: kernel
template <typename T, int SPLIT, typename Out>
__device__ __forceinline__ void multiply_block(int M, int N, int K, float alpha, const TensorMap& a_map,
                                               const TensorMap& b_map, Out* C)
{
    static_assert(SPLIT == 1 || SPLIT == CLUSTER, "one block, or a cluster");
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int tiles_n = (N + T::BN - 1) / T::BN, tile = blockIdx.x / SPLIT, rank = blockIdx.x % SPLIT;
    const int block_row = tile / tiles_n * T::BM, block_col = tile % tiles_n * T::BN;
    const int all_steps = (K + T::BK - 1) / T::BK, first = all_steps * rank / SPLIT;
    const int steps = all_steps * (rank + 1) / SPLIT - first;  // of this block; none if K has only one

    if (threadIdx.x == 0) init_ring<T>(tiles_at, T::GROUPS);
    if (SPLIT > 1) meet_in_cluster();  // the other block is there -> it may be written to
    __syncthreads();                   // barriers are made -> all may use them

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
    if constexpr (SPLIT == 1) {
        store_tile<T>(C, M, N, block_row, block_col, alpha, acc);
    } else {
        const unsigned exchange = tiles_at + Ring<T, T::STAGES>::EXCHANGE_AT;
        if (rank == 0) add_and_store<T, 0>(C, M, N, block_row, block_col, alpha, acc, exchange);
        else add_and_store<T, 1>(C, M, N, block_row, block_col, alpha, acc, exchange);
    }
}

// Name; type of C; blocks on a multiprocessor; blocks of a tile; tile of C, pairs of tiles, bytes for sums of another
// block.
#define SMALL(NAME, OUT, BLOCKS, SPLIT, ...)                                                                          \
    extern "C" __global__ void __launch_bounds__(Tiles<__VA_ARGS__>::MULTIPLIERS + PRODUCERS, BLOCKS)                 \
    __cluster_dims__(SPLIT, 1, 1)                                                                                     \
    gemm_v12_small_##NAME(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,                  \
                          const __grid_constant__ TensorMap b_map, OUT* C)                                            \
    {                                                                                                                 \
        multiply_block<Tiles<__VA_ARGS__>, SPLIT>(M, N, K, alpha, a_map, b_map, C);                                   \
    }

SMALL(128x128_f32, float, 1, 1, 128, 128, 6)
SMALL(128x128_bf16, Bf16, 1, 1, 128, 128, 6)
SMALL(128x64_f32, float, 2, 1, 128, 64, 4)
SMALL(128x64_bf16, Bf16, 2, 1, 128, 64, 4)
SMALL(64x64_f32, float, 3, 1, 64, 64, 4)
SMALL(64x64_bf16, Bf16, 3, 1, 64, 64, 4)
SMALL(128x128_split_f32, float, 1, 2, 128, 128, 6, 32768)
SMALL(128x128_split_bf16, Bf16, 1, 2, 128, 128, 6, 32768)
SMALL(64x64_split_f32, float, 3, 2, 64, 64, 4, 8192)
SMALL(64x64_split_bf16, Bf16, 3, 2, 64, 64, 4, 8192)
// ANCHOR_END: kernel
