// v12_gemm.cuh: the kernels of v12's library, by the constants of a plan: any shape, and an epilogue that is fused.
#pragma once
#include "v12_boxes_out.cuh"
#include "v12_cluster.cuh"
#include "v12_dependent.cuh"
#include "v12_order.cuh"
#include "v12_turns.cuh"

// ANCHOR: columns96
// bf16 as a type of its own, by which multiply_rows finds the product of 96 columns, declared after it.
struct Bf16Of96 {
    Bf16 bits;
};

#define NAMES_48 NAMES_32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define SUMS_48(d, i) SUMS_32(d, i), SUMS_16(d, i + 32)
PRODUCT(Bf16Of96, 96, "k16.f32.bf16.bf16", ", 0, 1", NAMES_48, SUMS_48, 48, 48, 49, 50)

// Tiles of 192 x 96. A box of B has 64 columns: the second half of the last one is copied, and not multiplied.
template <int STAGES_>
struct Tiles96 : Tiles<192, 128, STAGES_> {
    using Element = Bf16Of96;
    static constexpr int BN = 96, SUMS = Tiles<192, 128, STAGES_>::GROUP_ROWS * BN / GROUP;
};
// ANCHOR_END: columns96

// ANCHOR: epilogue
enum Activation { NONE, RELU, GELU };

// C = activation(alpha * A * B + beta * old + bias). `bias`: one float for each column, or null.
struct Epilogue {
    float alpha, beta;
    const float* bias;
    int activation;
};

// x * Phi(x), with the usual approximation of Phi, by a logistic function.
__device__ __forceinline__ float gelu(float x)
{
    return __fdividef(x, 1.0f + __expf(x * (-1.5957691f - 0.0713548f * x * x)));
}

__device__ __forceinline__ float as_float(float x) { return x; }
__device__ __forceinline__ float as_float(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }

// Calls change(accumulator, row, column) for 16 rows from `row` on, as store_sums stores them.
template <int COUNT, typename Change>
__device__ __forceinline__ void for_all(float (&acc)[COUNT], int row, int col, Change change)
{
    const int lane = threadIdx.x % WARP_SIZE;
    #pragma unroll
    for (int i = 0; i < COUNT; ++i)
        change(acc[i], row + lane / 4 + i / 2 % 2 * 8, col + i / 4 * 8 + lane % 4 * 2 + i % 2);
}

// Accumulators become what C will be; alpha * A * B where nothing is FUSED. `old` is read for beta only.
template <bool FUSED, typename Out, int COUNT>
__device__ __forceinline__ void finish(float (&acc)[COUNT], const Epilogue& epilogue, const Out* old, int M, int N,
                                       int row, int col)
{
    for_all(acc, row, col, [&](float& x, int, int) { x *= epilogue.alpha; });
    if (!FUSED) return;
    if (epilogue.beta != 0.0f)
        for_all(acc, row, col, [&](float& x, int r, int c) {
            if (r < M && c < N) x += epilogue.beta * as_float(old[r * N + c]);
        });
    if (epilogue.bias)
        for_all(acc, row, col, [&](float& x, int, int c) {
            if (c < N) x += epilogue.bias[c];
        });
    if (epilogue.activation == RELU) for_all(acc, row, col, [](float& x, int, int) { x = fmaxf(x, 0.0f); });
    if (epilogue.activation == GELU) for_all(acc, row, col, [](float& x, int, int) { x = gelu(x); });
}
// ANCHOR_END: epilogue

// Fetches the tensor maps before the first copy needs them.
__device__ __forceinline__ void prefetch_maps(const TensorMap& a_map, const TensorMap& b_map)
{
    asm volatile("prefetch.tensormap [%0];" :: "l"(&a_map) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&b_map) : "memory");
}

// How C leaves: as boxes of 128 bytes; as boxes of 64 bytes, for 96 columns of bf16; or straight from registers, for
// rows that start anywhere.
enum Exit { BOXES, HALF_BOXES, REGISTERS };

// A plan: tiles in shared memory; blocks of a cluster, which share tiles of B; whether warpgroups take tiles in turns;
// how C leaves, and whether more than alpha is applied to it before.
template <typename Tiles_, int CLUSTER_, bool TURNS_, Exit EXIT_, bool FUSED_ = EXIT_ == REGISTERS>
struct Plan {
    using T = Tiles_;
    static constexpr int BLOCKS = CLUSTER_;
    static constexpr bool TURNS = TURNS_, FUSED = FUSED_;
    static constexpr Exit EXIT = EXIT_;
    // Where registers move between warpgroups, a whole one copies.
    static constexpr int COPIERS = TURNS && T::SUMS * T::GROUPS > 128 ? GROUP : PRODUCERS;
    static constexpr int THREADS = T::MULTIPLIERS + COPIERS;
    // Behind the ring there may be room for boxes of C; else C follows where the ring was, and a block has one tile.
    static constexpr bool STAYS = T::EXCHANGE_BYTES > 0;
};

// ANCHOR: store
// C in boxes whose rows are 64 bytes long: pieces of 16 bytes change places with every second row.
template <typename T, typename Out>
__device__ __forceinline__ void store_half_boxes(const TensorMap& map, unsigned boxes, int row, int block_col,
                                                 const float (&acc)[T::SUMS])
{
    constexpr int ROW = 64, COLS = ROW / sizeof(Out), BYTES = T::GROUP_ROWS * ROW, SUMS = T::SUMS * COLS / T::BN;
    const int warp = threadIdx.x % GROUP / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const auto place = [](int r, int piece) { return r * ROW + (piece ^ r / 2 % 4) * 16; };
    #pragma unroll
    for (int i = 0; i < T::BN / COLS; ++i) {
        const unsigned box = boxes + (threadIdx.x / GROUP * (T::BN / COLS) + i) * BYTES;
        #pragma unroll
        for (int j = 0; j < SUMS; j += 8) {  // 16 columns
            const float* v = acc + i * SUMS + j;
            store_matrices(box + place(warp * 16 + lane % 16, j / 4 + lane / 16), pack(v[0], v[1]), pack(v[2], v[3]),
                           pack(v[4], v[5]), pack(v[6], v[7]));
        }
        publish_shared();
        sync_group();  // it is filled -> it may be copied
        if (threadIdx.x % GROUP == 0) store_box(map, block_col + i * COLS, row, box);
    }
}

// The boxes of a plan, if C leaves by those of v12_boxes_out.cuh.
struct NoBoxes {
    __device__ __forceinline__ NoBoxes(const TensorMap&, unsigned) {}
};

template <typename P, typename Out, Exit EXIT = P::EXIT>
struct BoxesOf {
    using Type = NoBoxes;
};

template <typename P, typename Out>
struct BoxesOf<P, Out, BOXES> {
    using T = typename P::T;
    static constexpr int ALL = T::BN * sizeof(Out) / T::ROW_BYTES;  // of 64 rows
    using Type = BoxesOut<T, Out, P::STAYS ? T::EXCHANGE_BYTES / (T::GROUPS * BOX_OF_C) : ALL>;
};

// 64 rows of C from `row` on.
template <typename P, typename Out, typename Boxes>
__device__ __forceinline__ void store_rows(Boxes& boxes, unsigned tiles_at, const TensorMap& c_map, Out* C, int M,
                                           int N, int row, int col, const float (&acc)[P::T::SUMS])
{
    using T = typename P::T;
    if constexpr (P::EXIT == BOXES) boxes.store(row, col, 1.0f, acc);
    if constexpr (P::EXIT == HALF_BOXES) store_half_boxes<T, Out>(c_map, tiles_at, row, col, acc);
    if constexpr (P::EXIT == REGISTERS)
        store_sums<false>(C, M, N, row + threadIdx.x % GROUP / WARP_SIZE * 16, col, 1.0f, acc);
}
// ANCHOR_END: store

// Row and column, in tiles, of a block's tile: in bands, which need L2 less, where blocks take several.
template <typename P>
__device__ __forceinline__ int2 place_of(const Order& order, int tile)
{
    return P::STAYS ? order.place(tile) : make_int2(tile / order.wide, tile % order.wide);
}

// ANCHOR: kernel
template <typename P, typename Out>
__device__ __forceinline__ void multiply_by_plan(int M, int N, int K, const Epilogue& epilogue, const TensorMap& a_map,
                                                 const TensorMap& b_map, const TensorMap& c_map, const Out* old, Out* C)
{
    using T = typename P::T;
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = P::BLOCKS > 1 ? rank_in_cluster() : 0, clusters = gridDim.x / P::BLOCKS;
    const int first = blockIdx.x / P::BLOCKS;
    const Order order = {(M + P::BLOCKS * T::BM - 1) / (P::BLOCKS * T::BM), (N + T::BN - 1) / T::BN};
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) {
        prefetch_maps(a_map, b_map);
        init_ring<T>(tiles_at, P::BLOCKS * (P::TURNS ? 1 : T::GROUPS));
    }
    if (P::BLOCKS > 1) meet_in_cluster();  // barriers are made and published -> all blocks may use them
    else __syncthreads();

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (P::COPIERS == GROUP) give_registers<FEW>();
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = first; tile < order.count(); tile += clusters) {
            const int2 at = place_of<P>(order, tile);
            const int block_row = (at.x * P::BLOCKS + rank) * T::BM, block_col = at.y * T::BN;
            if (tile == first) wait_for_previous();  // it may have written A and B, and may still read C
            for (int step = 0; step < steps; ++step, ring.advance()) {
                wait(ring.empty(), ring.parity);
                if constexpr (P::BLOCKS > 1)
                    copy_shared_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK,
                                         rank);
                else
                    copy_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK);
            }
            if (!P::STAYS) break;
        }
        let_next_begin();
        return;
    }

    if (P::COPIERS == GROUP) take_registers<MANY>();
    const int group = threadIdx.x / GROUP, own_row = threadIdx.x % GROUP / WARP_SIZE * 16;
    const auto release = [](unsigned empty) {
        if constexpr (P::BLOCKS > 1) release_shared_tiles(empty);
        else release_tiles(empty);
    };
    Ring<T, T::STAGES> ring(tiles_at, 0);
    typename BoxesOf<P, Out>::Type boxes(c_map, P::STAYS ? tiles_at + ring.EXCHANGE_AT : tiles_at);
    if constexpr (P::TURNS) {
        skip(ring, group * steps);
        for (int tile = first + group * clusters; tile < order.count();
             tile += T::GROUPS * clusters, skip(ring, steps)) {
            const int2 at = place_of<P>(order, tile);
            const int row = (at.x * P::BLOCKS + rank) * T::BM, col = at.y * T::BN;
            float acc[T::GROUPS][T::SUMS] = {};  // of 64 rows each
            if (tile != first) wait_for_turn(group);
            // All tiles of the other's turn are here -> the ring is at most one round behind this one's first.
            multiply_steps<T>(acc, ring, steps, release, [&]() {
                if (tile + clusters < order.count()) give_turn(1 - group);
            });
            #pragma unroll
            for (int i = 0; i < T::GROUPS; ++i) {
                finish<P::FUSED>(acc[i], epilogue, old, M, N, row + i * T::GROUP_ROWS + own_row, col);
                store_rows<P>(boxes, tiles_at, c_map, C, M, N, row + i * T::GROUP_ROWS, col, acc[i]);
            }
        }
    } else {
        for (int tile = first; tile < order.count(); tile += clusters) {
            const int2 at = place_of<P>(order, tile);
            const int row = (at.x * P::BLOCKS + rank) * T::BM + group * T::GROUP_ROWS, col = at.y * T::BN;
            float acc[T::SUMS] = {};
            multiply_steps<T>(acc, ring, steps, release);
            finish<P::FUSED>(acc, epilogue, old, M, N, row + own_row, col);
            // All warpgroups have read the last tiles -> C may lie there.
            if (!P::STAYS && P::EXIT != REGISTERS) sync_multipliers<T>();
            store_rows<P>(boxes, tiles_at, c_map, C, M, N, row, col, acc);
            if (!P::STAYS) break;
        }
    }
    if (P::EXIT != REGISTERS && threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
    if (P::BLOCKS > 1) meet_in_cluster();  // no other block arrives here any more -> this one may end
}
// ANCHOR_END: kernel

// ANCHOR: split
// The blocks of a cluster share the k of a tile. At the end each adds up a part of the columns: it gets the sums of the
// others in its shared memory, and stores these columns, which may begin anywhere.
template <typename T, int BLOCKS, typename Out>
__device__ __forceinline__ void multiply_split(int M, int N, int K, const Epilogue& epilogue, const TensorMap& a_map,
                                               const TensorMap& b_map, const Out* old, Out* C)
{
    constexpr int PART = T::SUMS / BLOCKS;  // of a thread
    constexpr int PART_BYTES = PART * T::MULTIPLIERS * sizeof(float);
    static_assert(PART % WIDTH == 0 && T::BN / BLOCKS % 8 == 0, "whole float4s, and columns as a product leaves them");
    static_assert(T::EXCHANGE_BYTES == (BLOCKS - 1) * PART_BYTES, "room for the parts of the others");
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared), exchange = tiles_at + Ring<T, T::STAGES>::EXCHANGE_AT;
    const int tiles_n = (N + T::BN - 1) / T::BN, tile = blockIdx.x / BLOCKS, rank = rank_in_cluster();
    const int block_row = tile / tiles_n * T::BM, block_col = tile % tiles_n * T::BN;
    const int all_steps = (K + T::BK - 1) / T::BK, first = all_steps * rank / BLOCKS;
    const int steps = all_steps * (rank + 1) / BLOCKS - first;  // of this block; none if K has too few

    if (threadIdx.x == 0) {
        prefetch_maps(a_map, b_map);
        init_ring<T>(tiles_at, T::GROUPS);
    }
    meet_in_cluster();  // barriers are made and published, the other blocks are there -> they may be written to

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        wait_for_previous();
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int step = 0; step < steps; ++step, ring.advance()) {
            wait(ring.empty(), ring.parity);
            copy_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, (first + step) * T::BK);
        }
        let_next_begin();
        return;
    }

    Ring<T, T::STAGES> ring(tiles_at, 0);
    float acc[T::SUMS] = {};
    if (steps > 0) multiply_steps<T>(acc, ring, steps, release_tiles);
    // The block that writes is found by its rank, less one if it comes after the one that reads.
    const auto place = [&](int from, int to, int i) {
        const int slot = from < to ? from : from - 1;
        return exchange + slot * PART_BYTES + (i / WIDTH * T::MULTIPLIERS + threadIdx.x) * sizeof(float4);
    };
    float sums[PART];
    #pragma unroll
    for (int to = 0; to < BLOCKS; ++to) {
        #pragma unroll
        for (int i = 0; i < PART; i += WIDTH) {
            const float* v = &acc[to * PART + i];
            if (to == rank) {
                #pragma unroll
                for (int j = 0; j < WIDTH; ++j) sums[i + j] = v[j];
            } else {
                asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};"
                             :: "r"(address_in(place(rank, to, i), to)), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                             : "memory");
            }
        }
    }
    sync_cluster();  // all have given -> all may read, and end
    #pragma unroll
    for (int slot = 0; slot < BLOCKS - 1; ++slot) {
        #pragma unroll
        for (int i = 0; i < PART; i += WIDTH) {
            float more[WIDTH];
            load4_shared(more, place(slot, BLOCKS, i));
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) sums[i + j] += more[j];
        }
    }
    const int row = block_row + threadIdx.x / WARP_SIZE * 16, col = block_col + rank * (T::BN / BLOCKS);
    // Columns of this block begin at another one than those of the fragment.
    finish<true>(sums, epilogue, old, M, N, row, col);
    store_sums<false>(C, M, N, row, col, 1.0f, sums);
}
// ANCHOR_END: split
