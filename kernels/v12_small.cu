// v12_small.cu: small products: smaller tiles.
//
// A product of 1024 has 32 tiles of 128 x 256: most multiprocessors would have none.
// Changed since v12_ring: the tile, which is smaller, and with it the ring, which is longer. C leaves as boxes, as in
// v12_store, which fit where the ring was: each block has one tile.
// Any M; N and K are multiples of 8. Boxes: 64 columns of A and as many rows as a tile of C, 64 x 64 of B, 64 x 64 of C
// of bf16 or 32 x 64 of float, swizzle of 128 bytes.
// Launch: 288 threads for 128 rows, 160 for 64; one block per tile of C; shared memory as the launch says.
// arch: compute_90a
#include "v12_boxes_out.cuh"
#include "v12_ring.cuh"

// ANCHOR: kernel
template <typename T, typename Out>
__device__ __forceinline__ void multiply_block(int N, int K, float alpha, const TensorMap& a_map,
                                               const TensorMap& b_map, const TensorMap& c_map)
{
    constexpr int BOXES = T::BN * sizeof(Out) / T::ROW_BYTES;  // all of a warpgroup's rows
    static_assert(T::GROUPS * BOXES * BOX_OF_C <= T::STAGES * T::STAGE_BYTES, "room for them");
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int tiles_n = (N + T::BN - 1) / T::BN;
    const int block_row = blockIdx.x / tiles_n * T::BM, block_col = blockIdx.x % tiles_n * T::BN;
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
    sync_multipliers<T>();  // both warpgroups have read the last tiles -> C may lie there
    BoxesOut<T, Out, BOXES> out(c_map, tiles_at);
    out.store(block_row + threadIdx.x / GROUP * T::GROUP_ROWS, block_col, alpha, acc);
    if (threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
}

// Name; type of C; blocks on a multiprocessor; tile of C, pairs of tiles.
#define SMALL(NAME, OUT, BLOCKS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(Tiles<__VA_ARGS__>::MULTIPLIERS + PRODUCERS, BLOCKS)                 \
    gemm_v12_small_##NAME(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,                  \
                          const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)           \
    {                                                                                                                 \
        multiply_block<Tiles<__VA_ARGS__>, OUT>(N, K, alpha, a_map, b_map, c_map);                                    \
    }

SMALL(128x128_f32, float, 1, 128, 128, 7)
SMALL(128x128_bf16, Bf16, 1, 128, 128, 7)
SMALL(64x128_f32, float, 1, 64, 128, 9)
SMALL(64x128_bf16, Bf16, 1, 64, 128, 9)
SMALL(64x64_f32, float, 3, 64, 64, 4)
SMALL(64x64_bf16, Bf16, 3, 64, 64, 4)
// ANCHOR_END: kernel
