// halves_fixed.cu: two blocks of a cluster that share the k of a tile, as in v12.
//
// arch: compute_90a
// block: 160
// shared: 41000
// product: M N K alpha A:64x64/128/bf16 B:64x64/128/bf16 C
// launch: blocks 4 whole 0 shape 66 64 328
// launch: blocks 2 whole 0 shape 60 64 40
// expect: clean
#include "../../../kernels/v12_split.cuh"  // as text

using T = Tiles<64, 64, 2, 8192>;
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
product(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
        const __grid_constant__ TensorMap b_map, float* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int tiles_n = (N + T::BN - 1) / T::BN, tile = blockIdx.x / CLUSTER, rank = blockIdx.x % CLUSTER;
    const int block_row = tile / tiles_n * T::BM, block_col = tile % tiles_n * T::BN;
    const int all_steps = (K + T::BK - 1) / T::BK, first = all_steps * rank / CLUSTER;
    const int steps = all_steps * (rank + 1) / CLUSTER - first;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, T::GROUPS);
    meet_in_cluster();  // the other block is there -> it may be written to
    __syncthreads();    // barriers are made -> all may use them

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
