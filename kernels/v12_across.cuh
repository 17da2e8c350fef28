// v12_across.cuh: tiles of C by products that lie across: what the unit takes as 64 rows are 64 columns of C.
//
// A product has 64 rows, and any multiple of 8 columns. With columns of C as its rows, a tile of C may have any
// multiple of 16 rows, few or many, and no box of B is copied in vain. Blocks of a cluster share what they copy: those
// side by side A's rows, those one below the other B's columns. Or they share the k of one tile.
#pragma once
#include "v12_boxes_out.cuh"
#include "v12_cluster.cuh"
#include "v12_ends.cuh"
#include "v12_epilogue.cuh"

// ANCHOR: tiles
// A tile of C: ROWS x 64 columns for each warpgroup. DOWN x RIGHT blocks share what they copy, or SPLIT blocks the k.
// A box of B has 64 rows of 128 bytes: of bf16 each is a k, of other numbers a column of C, with neighbouring k side by
// side. PROMOTES: sums leave the unit after each step.
template <typename Element_, bool PROMOTES_, int ROWS, int GROUPS_, int STAGES_, int DOWN_ = 1, int RIGHT_ = 1,
          int SPLIT_ = 1>
struct Across {
    using Element = Element_;
    static constexpr bool PROMOTES = PROMOTES_, B_BY_K = sizeof(Element) != sizeof(Bf16);
    static constexpr int ROW_BYTES = 128, BK = ROW_BYTES / sizeof(Element), BOX = 64;
    static constexpr int BM = ROWS, BN = GROUPS_ * BOX, STAGES = STAGES_;
    static constexpr int GROUPS = GROUPS_, MULTIPLIERS = GROUPS * GROUP, SUMS = BM * BOX / GROUP;
    static constexpr int DOWN = DOWN_, RIGHT = RIGHT_, SPLIT = SPLIT_, BLOCKS = DOWN * RIGHT * SPLIT;
    static constexpr int A_BYTES = BM * ROW_BYTES, BOX_BYTES = BOX * ROW_BYTES;
    static constexpr int STAGE_BYTES = A_BYTES + GROUPS * BOX_BYTES;
    static constexpr int PART = SUMS / SPLIT;  // sums of a thread that a block gets from each of the others
    static constexpr int PART_BYTES = PART * MULTIPLIERS * sizeof(float), EXCHANGE_BYTES = (SPLIT - 1) * PART_BYTES;
    static constexpr int THREADS = MULTIPLIERS + PRODUCERS;
    static_assert(BM % 16 == 0 && BM / RIGHT % 8 == 0 && BOX / DOWN % 8 == 0, "parts with whole swizzles");
    static_assert(SPLIT == 1 || DOWN * RIGHT == 1, "blocks share one or the other");
    static_assert(SUMS % (4 * SPLIT) == 0, "parts begin in the same column");
};

// The blocks whose copies a block gets: those in its row of the cluster, and in its column.
template <typename T>
struct Place {
    int rank = T::BLOCKS > 1 ? rank_in_cluster() : 0;
    int down = rank / T::RIGHT % T::DOWN, right = rank % T::RIGHT;

    // One pair of tiles, from k0 on, by one thread of each block: this one's parts go to all that need them.
    __device__ __forceinline__ void copy(unsigned to, unsigned full, const TensorMap& a_map, const TensorMap& b_map,
                                         int block_row, int block_col, int k0) const
    {
        constexpr int ROWS_OF_A = T::BM / T::RIGHT, ROWS_OF_B = T::BOX / T::DOWN;
        arrive_and_expect(full, T::STAGE_BYTES);
        const int a_row = T::RIGHT > 1 ? right * ROWS_OF_A : 0, b_row = T::DOWN > 1 ? down * ROWS_OF_B : 0;
        const unsigned a_tile = to + a_row * T::ROW_BYTES, b_tile = to + T::A_BYTES + b_row * T::ROW_BYTES;
        if (T::RIGHT > 1)
            copy_box_to_all(a_tile, a_map, k0, block_row + a_row, full, ((1 << T::RIGHT) - 1) << down * T::RIGHT);
        else
            copy_box(a_tile, a_map, k0, block_row, full);
        #pragma unroll
        for (int box = 0; box < T::GROUPS; ++box) {
            constexpr int FIRSTS = ((1 << T::DOWN * T::RIGHT) - 1) / ((1 << T::RIGHT) - 1);  // of each row of blocks
            const int col = block_col + box * T::BOX;
            const int x = T::B_BY_K ? k0 : col, y = T::B_BY_K ? col : k0;
            if (T::DOWN > 1)
                copy_box_to_all(b_tile + box * T::BOX_BYTES, b_map, x, y + b_row, full, FIRSTS << right);
            else
                copy_box(b_tile + box * T::BOX_BYTES, b_map, x, y, full);
        }
    }

    // A warpgroup has read a pair of tiles: it arrives in all blocks that copy to this one.
    __device__ __forceinline__ void release(unsigned empty) const
    {
        const int i = threadIdx.x % GROUP;
        if (T::DOWN * T::RIGHT == 1) {
            if (i == 0) arrive(empty);
        } else if (i < T::DOWN) {
            arrive_in(empty, i * T::RIGHT + right);
        } else if (i < T::DOWN + T::RIGHT - 1) {
            const int other = i - T::DOWN;
            arrive_in(empty, down * T::RIGHT + other + (other >= right));
        }
    }
};
// ANCHOR_END: tiles

// ANCHOR: product
// bf16 as a type of its own, by which a product is found whose left factor has neighbouring rows side by side: the
// columns of B, as they lie. Other numbers have no such products: their type stands for itself.
struct Columns {};

template <typename Element>
struct LeftOf {
    using Type = Element;
};

template <>
struct LeftOf<Bf16> {
    using Type = Columns;
};

#define NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define NAMES_16 NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define NAMES_24 NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define NAMES_40 NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define NAMES_48 NAMES_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define NAMES_56 NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define NAMES_72 NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define SUMS_8(d, i) SUMS_4(d, i), SUMS_4(d, i + 4)
#define SUMS_24(d, i) SUMS_16(d, i), SUMS_8(d, i + 16)
#define SUMS_40(d, i) SUMS_32(d, i), SUMS_8(d, i + 32)
#define SUMS_48(d, i) SUMS_32(d, i), SUMS_16(d, i + 32)
#define SUMS_56(d, i) SUMS_48(d, i), SUMS_8(d, i + 48)
#define SUMS_72(d, i) SUMS_64(d, i), SUMS_8(d, i + 64)
#define PRODUCT_ACROSS(N, ...)                                        \
    PRODUCT(Columns, N, "k16.f32.bf16.bf16", ", 1, 0", __VA_ARGS__)   \
    PRODUCT(float, N, "k8.f32.tf32.tf32", "", __VA_ARGS__)            \
    PRODUCT(E4m3, N, "k32.f32.e4m3.e4m3", "", __VA_ARGS__)
PRODUCT_ACROSS(16, NAMES_8, SUMS_8, 8, 8, 9, 10)
PRODUCT_ACROSS(32, NAMES_16, SUMS_16, 16, 16, 17, 18)
PRODUCT_ACROSS(48, NAMES_24, SUMS_24, 24, 24, 25, 26)
PRODUCT_ACROSS(64, NAMES_32, SUMS_32, 32, 32, 33, 34)
PRODUCT_ACROSS(80, NAMES_40, SUMS_40, 40, 40, 41, 42)
PRODUCT_ACROSS(96, NAMES_48, SUMS_48, 48, 48, 49, 50)
PRODUCT_ACROSS(112, NAMES_56, SUMS_56, 56, 56, 57, 58)
PRODUCT(Columns, 128, "k16.f32.bf16.bf16", ", 1, 0", NAMES_64, SUMS_64, 64, 64, 65, 66)  // of others: v12_tiles.cuh
PRODUCT_ACROSS(144, NAMES_72, SUMS_72, 72, 72, 73, 74)
PRODUCT(Columns, 192, "k16.f32.bf16.bf16", ", 1, 0", NAMES_96, SUMS_96, 96, 96, 97, 98)
// ANCHOR_END: product

// ANCHOR: multiply
// acc = the products of the next `steps` pairs of tiles, at least one. The loop is that of multiply_steps, and has its
// form for the reason given there; the factors change places. Where T::PROMOTES, acc begins at zero in
// each step, and is added to `sums` in FP32, rounded, as in v12_fp8.
template <typename T>
__device__ __forceinline__ void multiply_across(float (&acc)[T::SUMS], float (&sums)[T::SUMS],
                                                Ring<T, T::STAGES>& ring, int steps, const Place<T>& place)
{
    using Element = typename T::Element;
    constexpr int EIGHT_ROWS = 8 * T::ROW_BYTES, MK = 32 / sizeof(Element);
    constexpr int B_K_BYTES = T::B_BY_K ? sizeof(Element) : T::ROW_BYTES;  // from one k to the next
    unsigned before = 0;
    int step = 0;
    do {
        wait(ring.full(), ring.parity);
        const unsigned box = ring.tiles() + T::A_BYTES + threadIdx.x / GROUP * T::BOX_BYTES;
        const unsigned long long columns = describe(box, 0, EIGHT_ROWS), rows = describe(ring.tiles(), 0, EIGHT_ROWS);
        fence_products();
        #pragma unroll
        for (int k = 0; k < T::BK; k += MK)
            multiply(typename LeftOf<Element>::Type(), acc, columns + k * B_K_BYTES / 16,
                     rows + k * sizeof(Element) / 16, T::PROMOTES ? k : step + k);
        commit_products();
        wait_products<T::PROMOTES ? 0 : 1>();  // the step before, or this one -> its tiles may be overwritten
        if constexpr (T::PROMOTES) {
            place.release(ring.empty());
            #pragma unroll
            for (int i = 0; i < T::SUMS; ++i) sums[i] += acc[i];
        } else {
            if (step > 0) place.release(before);
            before = ring.empty();
        }
        ring.advance();
    } while (++step < steps);
    if constexpr (!T::PROMOTES) {
        wait_products<0>();
        place.release(before);
    }
}
// ANCHOR_END: multiply

// ANCHOR: store
// Row and column of a thread's sum number `i` in the 64 columns of its warpgroup.
__device__ __forceinline__ int2 place_across(int i)
{
    const int warp = threadIdx.x % GROUP / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    return make_int2(i / 4 * 8 + lane % 4 * 2 + i % 2, warp * 16 + i / 2 % 2 * 8 + lane / 4);
}

// The bit of `i` that decides the column.
constexpr int COLUMN_ACROSS = 2;

// Boxes of C with rows of 128 bytes, of a warpgroup's 64 columns: from `box` on, where they are copied from.
template <typename T>
__device__ __forceinline__ void fill_boxes(unsigned box, const float (&acc)[T::SUMS], float)
{
    #pragma unroll
    for (int i = 0; i < T::SUMS; ++i) {
        const int2 at = place_across(i);
        const unsigned row = box + at.y / 32 * T::A_BYTES + at.x * T::ROW_BYTES;  // of 32 columns
        asm volatile("st.shared.f32 [%0], %1;"
                     :: "r"(row + (at.y % 32 / 4 ^ at.x % 8) * 16 + at.y % 4 * 4), "f"(acc[i]) : "memory");
    }
}

template <typename T>
__device__ __forceinline__ void fill_boxes(unsigned box, const float (&acc)[T::SUMS], Bf16)
{
    const int warp = threadIdx.x % GROUP / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    #pragma unroll
    for (int i = 0; i < T::SUMS; i += 8) {  // 16 rows
        const int row = i * 2 + lane / 16 * 8 + lane % 8, piece = warp * 2 + lane / 8 % 2;
        const float* v = acc + i;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                     :: "r"(box + row * T::ROW_BYTES + (piece ^ row % 8) * 16), "r"(pack(v[0], v[1])),
                        "r"(pack(v[2], v[3])), "r"(pack(v[4], v[5])), "r"(pack(v[6], v[7])) : "memory");
    }
}

template <typename T, typename Out>
__device__ __forceinline__ void store_boxes(const TensorMap& map, unsigned tiles_at, int row, int col,
                                            const float (&acc)[T::SUMS])
{
    constexpr int COLS = T::ROW_BYTES / sizeof(Out), BOXES = T::BOX / COLS;
    const unsigned own = tiles_at + threadIdx.x / GROUP * BOXES * T::A_BYTES;
    fill_boxes<T>(own, acc, Out());
    publish_shared();
    sync_group();  // they are filled -> they may be copied
    if (threadIdx.x % GROUP > 0) return;
    #pragma unroll
    for (int i = 0; i < BOXES; ++i) store_box(map, col + i * COLS, row, own + i * T::A_BYTES);
    wait_stores_read<0>();  // shared memory ends with the block
}

// C[row][col] = the sums at `place`, which may be anywhere.
template <typename Out, int COUNT, typename Where>
__device__ __forceinline__ void store_anywhere(Out* C, int M, int N, const float (&sums)[COUNT], Where place)
{
    #pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int2 at = place(i);
        if (at.x < M && at.y < N) store1(&C[at.x * N + at.y], sums[i]);
    }
}
// ANCHOR_END: store

// ANCHOR: split
// The blocks of a cluster have sums of one tile, each of its own k. Each gets a part of all: `sums`.
template <typename T>
__device__ __forceinline__ void share_sums(float (&sums)[T::PART], const float (&acc)[T::SUMS], unsigned exchange,
                                           int rank)
{
    // The block that writes is found by its rank, less one if it comes after the one that reads.
    const auto place = [&](int from, int to, int i) -> unsigned {
        const int slot = from < to ? from : from - 1;
        return exchange + slot * T::PART_BYTES + (i / 2 * T::MULTIPLIERS + threadIdx.x) * sizeof(float2);
    };
    #pragma unroll
    for (int to = 0; to < T::SPLIT; ++to) {
        #pragma unroll
        for (int i = 0; i < T::PART; i += 2) {
            const float* v = &acc[to * T::PART + i];
            if (to == rank) sums[i] = v[0], sums[i + 1] = v[1];
            else
                asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};"
                             :: "r"(address_in(place(rank, to, i), to)), "f"(v[0]), "f"(v[1]) : "memory");
        }
    }
    sync_cluster();  // all have given -> all may read, and end
    #pragma unroll
    for (int slot = 0; slot < T::SPLIT - 1; ++slot) {
        #pragma unroll
        for (int i = 0; i < T::PART; i += 2) {
            float first, second;
            // This block reads as if it came after all that write: slots are in the order of their ranks.
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(first), "=f"(second) : "r"(place(slot, T::SPLIT, i)) : "memory");
            sums[i] += first, sums[i + 1] += second;
        }
    }
}
// ANCHOR_END: split

// ANCHOR: kernel
// How C leaves: as boxes, times alpha; as boxes after an epilogue; or after one straight from registers, with rows that
// start anywhere.
enum Exit { BOXES, FUSED, ANYWHERE };

template <typename T, Exit EXIT, typename Out>
__device__ __forceinline__ void multiply_tile_across(int M, int N, int K, const Epilogue& epilogue,
                                                     const TensorMap& a_map, const TensorMap& b_map,
                                                     const TensorMap& c_map, const Out* old, Out* C)
{
    static_assert(T::SPLIT == 1 || EXIT == ANYWHERE, "parts of a tile leave from registers");
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const Place<T> place;
    const int cluster = blockIdx.x / T::BLOCKS, wide = (N + T::RIGHT * T::BN - 1) / (T::RIGHT * T::BN);
    const int block_row = (cluster / wide * T::DOWN + place.down) * T::BM;
    const int block_col = (cluster % wide * T::RIGHT + place.right) * T::BN;
    const int all_steps = (K + T::BK - 1) / T::BK, part = place.rank % T::SPLIT;
    const int first = all_steps * part / T::SPLIT;
    const int steps = all_steps * (part + 1) / T::SPLIT - first;  // none if K has too few

    if (threadIdx.x == 0) {
        prefetch_maps(a_map, b_map);
        init_ring<T>(tiles_at, T::GROUPS * (T::DOWN + T::RIGHT - 1));
    }
    if (T::BLOCKS > 1) meet_in_cluster();  // barriers are made and published -> all blocks may use them
    else __syncthreads();

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        wait_for_previous();  // it may have written A and B, and may still read C
        for (int step = 0; step < steps; ++step, ring.advance()) {
            wait(ring.empty(), ring.parity);
            place.copy(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, (first + step) * T::BK);
        }
        let_next_begin();
        if (T::DOWN * T::RIGHT > 1) wait_all_released(ring);
        return;
    }

    Ring<T, T::STAGES> ring(tiles_at, 0);
    const int own_col = block_col + threadIdx.x / GROUP * T::BOX;
    const auto place_of = [&](int i) {
        const int2 at = place_across(i);
        return make_int2(block_row + at.x, own_col + at.y);
    };
    const auto load = [&](const float* bias) {
        return [&, bias](int i) {
            const int col = own_col + place_across(i).y;
            return col < N ? bias[col] : 0.0f;
        };
    };
    float acc[T::SUMS] = {};
    if constexpr (T::PROMOTES) {
        float of_step[T::SUMS] = {};
        if (T::SPLIT == 1 || steps > 0) multiply_across<T>(of_step, acc, ring, steps, place);
    } else {
        if (T::SPLIT == 1 || steps > 0) multiply_across<T>(acc, acc, ring, steps, place);
    }
    if constexpr (T::SPLIT > 1) {
        float sums[T::PART];
        share_sums<T>(sums, acc, tiles_at + ring.EXCHANGE_AT, place.rank);
        const auto place_of_part = [&](int i) { return place_of(place.rank * T::PART + i); };
        finish<EXIT != BOXES, COLUMN_ACROSS>(sums, epilogue, old, M, N, place_of_part, load);
        store_anywhere(C, M, N, sums, place_of_part);
    } else {
        finish<EXIT != BOXES, COLUMN_ACROSS>(acc, epilogue, old, M, N, place_of, load);
        if constexpr (EXIT != ANYWHERE) {
            sync_multipliers<T>();  // all warpgroups have read the last tiles -> C may lie there
            store_boxes<T, Out>(c_map, tiles_at, block_row, own_col, acc);
        } else {
            store_anywhere(C, M, N, acc, place_of);
        }
    }
}
// ANCHOR_END: kernel
