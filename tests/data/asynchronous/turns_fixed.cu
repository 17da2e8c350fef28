// turns_fixed.cu: two warpgroups with tiles of C of their own, which multiply in turn, as in v12_ping_pong; narrow tiles.
//
// arch: compute_90a
// block: 288
// shared: 82000
// product: M N K alpha A:64x128/128/bf16 B:64x32/128/bf16 C:32x64/128
// launch: blocks 2 whole 0 shape 260 264 648
// launch: blocks 4 whole 0 shape 130 200 392
// expect: clean
#include "../../../kernels/v12_boxes_out.cuh"
#include "../../../kernels/v12_cluster.cuh"
#include "../../../kernels/v12_order.cuh"

using T = Tiles<128, 64, 2, 4 * 8192>;
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

// Over the next `count` tiles of the ring, which are the other warpgroup's.
__device__ __forceinline__ void skip(Ring<T, T::STAGES>& ring, int count)
{
    ring.stage += count;
    ring.parity ^= ring.stage / T::STAGES % 2;
    ring.stage %= T::STAGES;
}

// The barrier at which a warpgroup waits for its turn; the other one only arrives.
__device__ __forceinline__ int turn_of(int group) { return 3 + group; }

__device__ __forceinline__ void wait_for_turn(int group)
{
    asm volatile("bar.sync %0, %1;" :: "r"(turn_of(group)), "n"(2 * GROUP) : "memory");
}

__device__ __forceinline__ void give_turn(int group)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(turn_of(group)), "n"(2 * GROUP) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
product(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
        const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER, first = blockIdx.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, CLUSTER);  // of each block one warpgroup reads a pair of tiles
    meet_in_cluster();  // barriers are made -> both blocks may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = first; tile < order.count(); tile += clusters) {
            const int2 at = order.place(tile);
            const int block_row = (at.x * CLUSTER + rank) * T::BM, block_col = at.y * T::BN;
            for (int step = 0; step < steps; ++step, ring.advance()) {
                wait(ring.empty(), ring.parity);
                copy_shared_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK, rank);
            }
        }
        return;
    }

    const int group = threadIdx.x / GROUP;
    Ring<T, T::STAGES> ring(tiles_at, 0);
    skip(ring, group * steps);
    BoxesOut<T, float, T::EXCHANGE_BYTES / (T::GROUPS * BOX_OF_C)> out(c_map, tiles_at + ring.EXCHANGE_AT);
    for (int tile = first + group * clusters; tile < order.count(); tile += T::GROUPS * clusters, skip(ring, steps)) {
        const int2 at = order.place(tile);
        float acc[T::GROUPS][T::SUMS] = {};  // of 64 rows each
        if (tile != first) wait_for_turn(group);
        multiply_steps<T>(acc, ring, steps, release_shared_tiles, [&]() {
            if (tile + clusters < order.count()) give_turn(1 - group);
        });
        for (int i = 0; i < T::GROUPS; ++i)
            out.store((at.x * CLUSTER + rank) * T::BM + i * T::GROUP_ROWS, at.y * T::BN, alpha, acc[i]);
    }
    if (threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
    meet_in_cluster();  // the other block arrives here no more -> this one may end
}
