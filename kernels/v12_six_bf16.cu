// v12_six_bf16.cu: FP32 from six products of bf16, by warpgroups.
//
// Changed since v12_multicast: A and B are FP32, and tiles of C 128 x 128. A first kernel, `split_v12`, writes each
// element as three numbers of bf16, whose 3 times 8 bits are the 24 of FP32: a matrix for each part. The product copies
// pairs of tiles of one part, and computes six of the nine products of parts: the other three are less than a unit in
// the last place of FP32. Sums of a step of 64 k begin at zero, the small ones first, and are added to the others in
// FP32, rounded and not cut, as in v10_three_tf32. There are two sets of them, in turn: while one is added, products
// run on the other. That takes more registers than a thread of this block gets: warps that copy give some of theirs.
// TF32 would need three products, and B with neighbouring k side by side, which products of bf16 don't.
// After Henry, Tang and Heinecke 2019 (six products), Ootomo and Yokota 2022 (sums). cuBLAS 12.9 has it with nine.
// Unchanged: clusters, the ring, the order of tiles, sums straight to C.
// C = alpha * A * B. Any M, N, K; finite elements whose parts are no smaller than FP32 can be.
// Boxes of the parts: 64 x 128 of A, 64 x 32 of B, swizzle of 128 bytes.
// Launch: `split_v12` for A and for B, SPLITTERS threads, one for each eight columns of a row. Then THREADS threads, an
// even number of blocks: as many as multiprocessors, or two for each pair of tiles if these are fewer; shared memory as
// the launch says.
// arch: compute_90a
#include "v12_cluster.cuh"
#include "v12_order.cuh"

constexpr int PARTS = 3;

// ANCHOR: split
// Two neighbours as sums of three numbers of bf16 each. Both differences are exact.
__device__ __forceinline__ void split(unsigned (&part)[PARTS], float low, float high)
{
    #pragma unroll
    for (int p = 0; p < PARTS; ++p) {
        part[p] = pack(low, high);
        low -= __uint_as_float(part[p] << 16);
        high -= __uint_as_float(part[p] & 0xffff0000);
    }
}

constexpr int SPLITTERS = 256;  // threads of a block

// parts[p][row][col] = part p of X[row][col]. Rows of parts are as long as a tensor map needs, with zeros at the end:
// a multiple of eight, of which each thread has one.
extern "C" __global__ void __launch_bounds__(SPLITTERS)
split_v12(int rows, int cols, const float* X, Bf16* parts)
{
    const int wide = (cols + BF16_WIDTH - 1) / BF16_WIDTH, piece = blockIdx.x * SPLITTERS + threadIdx.x;
    const int row = piece / wide, col = piece % wide * BF16_WIDTH;
    if (row >= rows) return;  // safe: no barrier follows
    const float4 u = load4_or_zero(X, rows, cols, row, col), v = load4_or_zero(X, rows, cols, row, col + WIDTH);
    unsigned part[BF16_WIDTH / 2][PARTS];
    split(part[0], u.x, u.y);
    split(part[1], u.z, u.w);
    split(part[2], v.x, v.y);
    split(part[3], v.z, v.w);
    #pragma unroll
    for (int p = 0; p < PARTS; ++p)
        reinterpret_cast<uint4*>(parts)[static_cast<long long>(p) * rows * wide + piece] =
            make_uint4(part[0][p], part[1][p], part[2][p], part[3][p]);
}
// ANCHOR_END: split

// ANCHOR: kernel
using T = Tiles<128, 128, 7>;  // of C; pairs of tiles, each of one part
struct Maps {
    TensorMap part[PARTS];
};
constexpr int COPIERS = GROUP, THREADS = T::MULTIPLIERS + COPIERS;
constexpr int FEW_REGISTERS = 40, MANY_REGISTERS = 232, REGISTERS = 168;  // of a thread; the last: at the launch
static_assert(COPIERS * FEW_REGISTERS + T::MULTIPLIERS * MANY_REGISTERS <= THREADS * REGISTERS, "no more than it has");

// ANCHOR: multiply
// Starts a group: products of parts that are equally small, 2 the smallest. It is the last to read pair SMALLNESS.
template <int SMALLNESS>
__device__ __forceinline__ void multiply_parts(float (&acc)[T::SUMS], const unsigned (&pairs)[PARTS])
{
    fence_products();
    #pragma unroll
    for (int part = 0; part <= SMALLNESS; ++part) {
        const bool adds = SMALLNESS < PARTS - 1 || part > 0;  // else acc is new
        multiply_pair<T>(acc, pairs[part], pairs[SMALLNESS - part], adds);
    }
    commit_products();
}

// The products of a step of 64 k, to acc. `before`: those of the step before; while the first of these run, they are
// added to sums. When a group has started, the one before is done: what it was the last to read may be overwritten.
// `last`: the barrier of the pair that the last group of the step before reads, or 0.
__device__ __forceinline__ void multiply_step(float (&acc)[T::SUMS], const float (&before)[T::SUMS],
                                              float (&sums)[T::SUMS], Ring<T, T::STAGES>& ring, unsigned& last)
{
    unsigned pairs[PARTS], empty[PARTS];
    #pragma unroll
    for (int p = PARTS - 1; p >= 0; --p, ring.advance()) {
        wait(ring.full(), ring.parity);
        pairs[p] = ring.tiles(), empty[p] = ring.empty();
    }
    multiply_parts<2>(acc, pairs);
    wait_products<1>();
    if (last) release_shared_tiles(last);
    #pragma unroll
    for (int i = 0; i < T::SUMS; ++i) sums[i] += before[i];
    multiply_parts<1>(acc, pairs);
    wait_products<1>();
    release_shared_tiles(empty[2]);
    multiply_parts<0>(acc, pairs);
    wait_products<1>();
    release_shared_tiles(empty[1]);
    last = empty[0];
}

// The last step's products: none is under way any more.
__device__ __forceinline__ void finish(const float (&acc)[T::SUMS], float (&sums)[T::SUMS], unsigned last)
{
    wait_products<0>();
    release_shared_tiles(last);
    #pragma unroll
    for (int i = 0; i < T::SUMS; ++i) sums[i] += acc[i];
}
// ANCHOR_END: multiply

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
sgemm_v12_six_bf16(int M, int N, int K, float alpha, const __grid_constant__ Maps a_maps,
                   const __grid_constant__ Maps b_maps, float* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, CLUSTER * T::GROUPS);
    meet_in_cluster();  // barriers are made and published -> both blocks may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        give_registers<FEW_REGISTERS>();
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
            const int2 at = order.place(tile);
            const int block_row = (at.x * CLUSTER + rank) * T::BM, block_col = at.y * T::BN;
            for (int k0 = 0; k0 < steps * T::BK; k0 += T::BK) {
                #pragma unroll
                for (int p = PARTS - 1; p >= 0; --p, ring.advance()) {
                    wait(ring.empty(), ring.parity);
                    copy_shared_tiles<T>(ring.tiles(), ring.full(), a_maps.part[p], b_maps.part[p], block_row,
                                         block_col, k0, rank);
                }
            }
        }
        return;
    }

    take_registers<MANY_REGISTERS>();
    Ring<T, T::STAGES> ring(tiles_at, 0);
    for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
        const int2 at = order.place(tile);
        float sums[T::SUMS] = {}, even[T::SUMS] = {}, odd[T::SUMS] = {};
        unsigned last = 0;
        // Both ends of the loop wait: where they meet, ptxas would not see that no products are under way (C7514).
        for (int step = 0;; step += 2) {
            multiply_step(even, odd, sums, ring, last);
            if (step + 1 == steps) {
                finish(even, sums, last);
                break;
            }
            multiply_step(odd, even, sums, ring, last);
            if (step + 2 == steps) {
                finish(odd, sums, last);
                break;
            }
        }
        const int row = (at.x * CLUSTER + rank) * T::BM + threadIdx.x / WARP_SIZE * 16, col = at.y * T::BN;
        if (N % 2 == 0) store_sums<true>(C, M, N, row, col, alpha, sums);
        else store_sums<false>(C, M, N, row, col, alpha, sums);
    }
    meet_in_cluster();  // the other block arrives here no more -> this one may end
}
// ANCHOR_END: kernel
