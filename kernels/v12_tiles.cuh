// v12_tiles.cuh: tiles in shared memory as products of warpgroups read them (wgmma), and the copies that bring them.
#pragma once
#include "v11_barrier.cuh"
#include "v12_bf16.cuh"

constexpr int GROUP = 128;  // threads of a warpgroup

using E4m3 = unsigned char;  // a number of 8 bits: 4 of exponent, 3 of fraction

// ANCHOR: tiles
// The tile of C of a block, 64 rows of it for each warpgroup: as many as a product takes. Tiles of A and B are
// 128 bytes of k deep, as long as a row of the swizzle may be: 64 k of bf16. A row of B is longer, so its tile is
// several boxes. Of other numbers than bf16 a product takes B only with neighbouring k side by side: B has N rows of K
// numbers then, and its tile is one box, as A's is. Numbers of float are multiplied as TF32.
template <int BM_, int BN_, int STAGES_, int EXCHANGE_BYTES_ = 0, typename Element_ = Bf16>
struct Tiles {
    using Element = Element_;
    static constexpr bool B_BY_K = sizeof(Element) != sizeof(Bf16);
    static constexpr int ROW_BYTES = 128, BK = ROW_BYTES / sizeof(Element);
    static constexpr int BM = BM_, BN = BN_, STAGES = STAGES_;
    static constexpr int GROUP_ROWS = 64, GROUPS = BM / GROUP_ROWS, MULTIPLIERS = GROUPS * GROUP;
    static constexpr int BOX = B_BY_K ? BN : BK;  // columns of B in a box
    static constexpr int A_BYTES = BM * ROW_BYTES, BOX_BYTES = (B_BY_K ? BN : BK) * ROW_BYTES, BOXES = BN / BOX;
    static constexpr int STAGE_BYTES = A_BYTES + BOXES * BOX_BYTES;
    static constexpr int EXCHANGE_BYTES = EXCHANGE_BYTES_;  // what else a kernel keeps, behind the tiles
    static constexpr int SUMS = GROUP_ROWS * BN / GROUP;    // of a thread
    static_assert(BN % BOX == 0, "whole boxes");
};

// One pair of tiles: both factors from k0 on, by one thread. The barrier gets their bytes.
template <typename T>
__device__ __forceinline__ void copy_tiles(unsigned to, unsigned full, const TensorMap& a_map, const TensorMap& b_map,
                                           int block_row, int block_col, int k0)
{
    static_assert(!T::B_BY_K, "clusters copy these");
    arrive_and_expect(full, T::STAGE_BYTES);
    copy_box(to, a_map, k0, block_row, full);
    #pragma unroll
    for (int box = 0; box < T::BOXES; ++box)
        copy_box(to + T::A_BYTES + box * T::BOX_BYTES, b_map, block_col + box * T::BOX, k0, full);
}
// ANCHOR_END: tiles

// ANCHOR: descriptor
// How a product finds a factor in shared memory: where it starts, two distances in units of 16 bytes, and that pieces
// of 16 bytes are swizzled in rows of 128 bytes. In a cluster an address has the block's rank from bit 24 on, which
// would add to the first distance.
__device__ __forceinline__ unsigned long long describe(unsigned start, unsigned leading, unsigned stride)
{
    constexpr unsigned long long SWIZZLE_128 = 1;
    constexpr unsigned WITHIN_BLOCK = (1 << 18) - 1;
    const unsigned long long at = (start & WITHIN_BLOCK) / 16, first = leading / 16, second = stride / 16;
    return at | first << 16 | second << 32 | SWIZZLE_128 << 62;
}
// ANCHOR_END: descriptor

// ANCHOR: product
// What was written to registers before is there for products that follow. Shared memory needs publish_shared().
__device__ __forceinline__ void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// What this thread wrote to shared memory can be seen by products and by copies of boxes that start later.
__device__ __forceinline__ void publish_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// What was started since the last call is a group.
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most GROUPS groups of products are under way.
template <int GROUPS>
__device__ __forceinline__ void wait_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(GROUPS) : "memory");
}

// The registers of a product of 64, 128, 192 or 256 columns, for its text and as operands.
#define NAMES_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "\
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_64 NAMES_32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "\
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_96 NAMES_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "\
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NAMES_128 NAMES_96 ", " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "\
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS_16(d, i) SUMS_4(d, i), SUMS_4(d, i + 4), SUMS_4(d, i + 8), SUMS_4(d, i + 12)
#define SUMS_32(d, i) SUMS_16(d, i), SUMS_16(d, i + 16)
#define SUMS_64(d, i) SUMS_32(d, i), SUMS_32(d, i + 32)
#define SUMS_96(d, i) SUMS_64(d, i), SUMS_32(d, i + 64)
#define SUMS_128(d, i) SUMS_64(d, i), SUMS_64(d, i + 64)

// Starts d += a * b, or d = a * b: 64 rows, N columns, 32 bytes of k, by all threads of a warpgroup. A has neighbouring
// k side by side. B has so too, but of bf16 neighbouring columns: the last 1 of ORDER, which other types don't have.
#define PRODUCT(ELEMENT, N, TYPES, ORDER, NAMES, SUMS, COUNT, A, B, ADDS)                                             \
    __device__ __forceinline__ void multiply(ELEMENT, float (&d)[COUNT], unsigned long long a, unsigned long long b,  \
                                             int adds)                                                                \
    {                                                                                                                 \
        asm volatile("{\n"                                                                                            \
                     ".reg .pred adds;\n"                                                                             \
                     "setp.ne.b32 adds, %" #ADDS ", 0;\n"                                                             \
                     "wgmma.mma_async.sync.aligned.m64n" #N TYPES " "                                                 \
                     "{" NAMES "}, %" #A ", %" #B ", adds, 1, 1" ORDER ";\n"                                          \
                     "}" : SUMS(d, 0) : "l"(a), "l"(b), "r"(adds));                                                   \
    }
#define BF16_PRODUCT(N, ...) PRODUCT(Bf16, N, "k16.f32.bf16.bf16", ", 0, 1", __VA_ARGS__)
BF16_PRODUCT(64, NAMES_32, SUMS_32, 32, 32, 33, 34)
BF16_PRODUCT(128, NAMES_64, SUMS_64, 64, 64, 65, 66)
BF16_PRODUCT(192, NAMES_96, SUMS_96, 96, 96, 97, 98)
BF16_PRODUCT(256, NAMES_128, SUMS_128, 128, 128, 129, 130)
PRODUCT(float, 128, "k8.f32.tf32.tf32", "", NAMES_64, SUMS_64, 64, 64, 65, 66)
PRODUCT(float, 256, "k8.f32.tf32.tf32", "", NAMES_128, SUMS_128, 128, 128, 129, 130)
PRODUCT(E4m3, 128, "k32.f32.e4m3.e4m3", "", NAMES_64, SUMS_64, 64, 64, 65, 66)
PRODUCT(E4m3, 192, "k32.f32.e4m3.e4m3", "", NAMES_96, SUMS_96, 96, 96, 97, 98)
PRODUCT(E4m3, 256, "k32.f32.e4m3.e4m3", "", NAMES_128, SUMS_128, 128, 128, 129, 130)
// ANCHOR_END: product

// ANCHOR: multiply
// Starts the products of a step: 64 rows of A's tile by B's tile, or by the first columns of it, as many as acc has
// sums for. `adds` = 0: acc is new.
template <typename T, int SUMS>
__device__ __forceinline__ void multiply_rows(float (&acc)[SUMS], unsigned a_rows, unsigned b_tile, int adds)
{
    using Element = typename T::Element;
    constexpr int MK = 32 / sizeof(Element), EIGHT_ROWS = 8 * T::ROW_BYTES;
    // A: rows of k; from 8 rows to the next 8. B: as A; of bf16 rows of 64 columns, to the next 64, and from 8 k to the
    // next 8.
    constexpr int TO_NEXT_BOX = T::B_BY_K ? 0 : T::BOX_BYTES, B_K_BYTES = T::B_BY_K ? sizeof(Element) : T::ROW_BYTES;
    const unsigned long long a = describe(a_rows, 0, EIGHT_ROWS), b = describe(b_tile, TO_NEXT_BOX, EIGHT_ROWS);
    #pragma unroll
    for (int k = 0; k < T::BK; k += MK)
        multiply(Element(), acc, a + k * sizeof(Element) / 16, b + k * B_K_BYTES / 16, adds + k);
}

// The rows of this thread's warpgroup; A's tile and B's may belong to different pairs.
template <typename T, int SUMS>
__device__ __forceinline__ void multiply_pair(float (&acc)[SUMS], unsigned a_pair, unsigned b_pair, int adds)
{
    const unsigned a_rows = a_pair + threadIdx.x / GROUP * T::GROUP_ROWS * T::ROW_BYTES;
    multiply_rows<T>(acc, a_rows, b_pair + T::A_BYTES, adds);
}

// The same of one pair, as a group.
template <typename T>
__device__ __forceinline__ void multiply_tiles(float (&acc)[T::SUMS], unsigned tiles, int adds)
{
    fence_products();
    multiply_pair<T>(acc, tiles, tiles, adds);
    commit_products();
}

// The same of all rows of A's tile, by one warpgroup.
template <typename T>
__device__ __forceinline__ void multiply_tiles(float (&acc)[T::GROUPS][T::SUMS], unsigned tiles, int adds)
{
    fence_products();
    #pragma unroll
    for (int i = 0; i < T::GROUPS; ++i)
        multiply_rows<T>(acc[i], tiles + i * T::GROUP_ROWS * T::ROW_BYTES, tiles + T::A_BYTES, adds);
    commit_products();
}
// ANCHOR_END: multiply

// ANCHOR: store
// C = alpha * acc for the rows of this thread's warpgroup, straight from registers. N is a multiple of 8.
template <typename T, typename Out>
__device__ __forceinline__ void store_tile(Out* C, int M, int N, int block_row, int block_col, float alpha,
                                           const float (&acc)[T::SUMS])
{
    store_sums<true>(C, M, N, block_row + threadIdx.x / WARP_SIZE * 16, block_col, alpha, acc);
}
// ANCHOR_END: store
