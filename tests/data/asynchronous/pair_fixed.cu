// pair_fixed.cu: clusters of two blocks that share tiles of B, as in v12, with narrow tiles; C leaves as boxes.
//
// arch: compute_90a
// block: 288
// shared: 82000
// product: M N K alpha A:64x128/128/bf16 B:64x32/128/bf16 C:32x64/128
// launch: blocks 2 whole 0 shape 260 136 328
// launch: blocks 4 whole 0 shape 130 72 392
// expect: clean
#include "../../../kernels/v12_boxes_out.cuh"  // as text
#include "../../../kernels/v12_cluster.cuh"  // as text
#include "../../../kernels/v12_order.cuh"  // as text

using T = Tiles<128, 64, 2, 4 * 8192>;
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
product(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
        const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, CLUSTER * T::GROUPS);
    meet_in_cluster();  // barriers are made -> both blocks may use them

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
    const int group = threadIdx.x / GROUP;
    BoxesOut<T, float, T::EXCHANGE_BYTES / (T::GROUPS * BOX_OF_C)> out(c_map, tiles_at + ring.EXCHANGE_AT);
    for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
        const int2 at = order.place(tile);
        float acc[T::SUMS] = {};
        multiply_steps<T>(acc, ring, steps, release_shared_tiles);
        out.store((at.x * CLUSTER + rank) * T::BM + group * T::GROUP_ROWS, at.y * T::BN, alpha, acc);
    }
    if (threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
    meet_in_cluster();  // the other block arrives here no more -> this one may end
}
