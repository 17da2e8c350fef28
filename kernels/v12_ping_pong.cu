// v12_ping_pong.cu: two warpgroups, two tiles of C.
//
// Changed since v12_store: who multiplies what. There both warpgroups finish a tile at the same time, and while they
// store it the tensor cores have nothing to do. Now each has tiles of its own, in turn: the ring holds all k of the
// first one's tile, then all k of the second one's, and while one stores the other multiplies. A warpgroup needs 128
// sums of a thread for 128 x 128 of C, two products of 64 rows in place of one. `ping_pong_192`: 128 x 192, which reads
// less for each product, and takes 192 registers for sums alone: the warps that copy give theirs away (setmaxnreg).
// A turn has a barrier of its own: those of the ring tell only odd phases from even ones, and a warpgroup that is early
// would take an old phase for its own.
// Unchanged: clusters, the ring, the order of tiles, boxes of C. After CUTLASS, whose name for it this is.
// Any M; N and K are multiples of 8. Boxes: 64 x 128 of A, 64 x 32 of B, 64 x 64 of C of bf16 or 32 x 64 of float,
// swizzle of 128 bytes.
// Launch: 288 threads, 384 for 192 columns; an even number of blocks: as many as multiprocessors, or two for each pair
// of tiles if these are fewer; shared memory as the launch says.
// arch: compute_90a
#include "v12_boxes_out.cuh"
#include "v12_cluster.cuh"
#include "v12_order.cuh"

// ANCHOR: kernel
using Square = Tiles<128, 128, 6, 4 * BOX_OF_C>;  // of C; pairs of tiles; bytes of boxes of C
using Wide = Tiles<128, 192, 4, 4 * BOX_OF_C>;

// Who copies: a warp, or where registers change hands, which they do by warpgroups, one of these.
template <typename T>
constexpr int COPIERS = T::SUMS * T::GROUPS > 128 ? GROUP : PRODUCERS;

// ANCHOR: turn
// Over the next `count` tiles of the ring, which are the other warpgroup's.
template <typename T>
__device__ __forceinline__ void skip(Ring<T, T::STAGES>& ring, int count)
{
    ring.stage += count;
    ring.parity ^= ring.stage / T::STAGES % 2;
    ring.stage %= T::STAGES;
}

// The barrier at which a warpgroup waits for its turn; the other one only arrives. Lower numbers are taken.
__device__ __forceinline__ int turn_of(int group) { return 3 + group; }

__device__ __forceinline__ void wait_for_turn(int group)
{
    asm volatile("bar.sync %0, %1;" :: "r"(turn_of(group)), "n"(2 * GROUP) : "memory");
}

__device__ __forceinline__ void give_turn(int group)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(turn_of(group)), "n"(2 * GROUP) : "memory");
}
// ANCHOR_END: turn

// ANCHOR: blocks
template <typename T, typename Out>
__device__ __forceinline__ void multiply_blocks(int M, int N, int K, float alpha, const TensorMap& a_map,
                                                const TensorMap& b_map, const TensorMap& c_map)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER, first = blockIdx.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, CLUSTER);  // of each block one warpgroup reads a pair of tiles
    meet_in_cluster();  // barriers are made and published -> both blocks may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (COPIERS<T> == GROUP) give_registers<FEW>();
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

    if (COPIERS<T> == GROUP) take_registers<MANY>();
    const int group = threadIdx.x / GROUP;
    Ring<T, T::STAGES> ring(tiles_at, 0);
    skip(ring, group * steps);
    BoxesOut<T, Out, T::EXCHANGE_BYTES / (T::GROUPS * BOX_OF_C)> out(c_map, tiles_at + ring.EXCHANGE_AT);
    for (int tile = first + group * clusters; tile < order.count(); tile += T::GROUPS * clusters, skip(ring, steps)) {
        const int2 at = order.place(tile);
        float acc[T::GROUPS][T::SUMS] = {};  // of 64 rows each
        if (tile != first) wait_for_turn(group);
        // All tiles of the other's turn are here -> the ring is at most one round behind this one's first.
        multiply_steps<T>(acc, ring, steps, release_shared_tiles, [&]() {
            if (tile + clusters < order.count()) give_turn(1 - group);
        });
        #pragma unroll
        for (int i = 0; i < T::GROUPS; ++i)
            out.store((at.x * CLUSTER + rank) * T::BM + i * T::GROUP_ROWS, at.y * T::BN, alpha, acc[i]);
    }
    if (threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
    meet_in_cluster();  // the other block arrives here no more -> this one may end
}
// ANCHOR_END: blocks

#define PING_PONG(NAME, T, OUT)                                                                                       \
    extern "C" __global__ void __launch_bounds__(T::MULTIPLIERS + COPIERS<T>, 1) __cluster_dims__(CLUSTER, 1, 1)      \
    gemm_v12_##NAME(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,                        \
                    const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)                 \
    {                                                                                                                 \
        multiply_blocks<T, OUT>(M, N, K, alpha, a_map, b_map, c_map);                                                 \
    }

PING_PONG(ping_pong_f32, Square, float)
PING_PONG(ping_pong_bf16, Square, Bf16)
PING_PONG(ping_pong_192_f32, Wide, float)
PING_PONG(ping_pong_192_bf16, Wide, Bf16)
// ANCHOR_END: kernel
