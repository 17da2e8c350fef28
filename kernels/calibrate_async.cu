// calibrate_async.cu: what work costs that goes on by itself: products of warpgroups, copies of boxes, barriers in
// shared memory. In clocks of the SM, as in calibrate.cu.
//
// The first thread of each block writes the SM's clock before its first round and after its last to clocks[2 * block]
// and clocks[2 * block + 1]; the launcher takes the difference of two numbers of rounds.
//
// products_*:  a chain of wgmma on the same sums in each round, of 1, 4 or 16, and a wait for it.
// mma_*, load_matrices_*, store_matrices_*: instructions of warps on fragments, as calibrate.cu has them.
// barrier_*:   barriers in shared memory, of blocks and of clusters.
// boxes, bulk: copies to shared memory, `depth` of them under way. boxes_out_*: from there.
// multicast_*: each block of a cluster copies a part to all.
// fence_*, remote_*: fences for the GPU alone and after stores; stores to the other block of a cluster.
// code_*:      instructions in a row, whose first pass has to get them.
// nothing*:    kernels that end at once.
// arch: compute_90a
#include "v12_boxes_out.cuh"
#include "v12_cluster.cuh"
#include "v12_copy.cuh"
#include "v12_dependent.cuh"

constexpr int LAST = 1 << 16;
constexpr int UNROLL = 16;  // instructions of one kind in a round, where they are no chain

__device__ __forceinline__ char* dynamic_shared()
{
    extern __shared__ __align__(1024) char dynamic[];
    return dynamic;
}

template <class Round>
__device__ __forceinline__ void measure(int rounds, long long* clocks, Round round)
{
    __syncthreads();
    const long long start = clock64();
    #pragma unroll 1
    for (int i = 0; i < rounds; ++i) round();
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) {
        clocks[2 * blockIdx.x] = start;
        clocks[2 * blockIdx.x + 1] = end;
    }
}

// Products of warpgroups ---------------------------------------------------------------------------------------

// The products of v12_tiles.cuh with A in registers.
#define FROM_REGISTERS(ELEMENT, N, TYPES, ORDER, NAMES, SUMS, COUNT, A0, A1, A2, A3, B)                               \
    __device__ __forceinline__ void multiply(ELEMENT, float (&d)[COUNT], const unsigned (&a)[4],                      \
                                             unsigned long long b)                                                    \
    {                                                                                                                 \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N TYPES " "                                                 \
                     "{" NAMES "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", 1, 1, 1" ORDER ";"              \
                     : SUMS(d, 0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                              \
    }
FROM_REGISTERS(Bf16, 64, "k16.f32.bf16.bf16", ", 1", NAMES_32, SUMS_32, 32, 32, 33, 34, 35, 36)
FROM_REGISTERS(Bf16, 128, "k16.f32.bf16.bf16", ", 1", NAMES_64, SUMS_64, 64, 64, 65, 66, 67, 68)
FROM_REGISTERS(Bf16, 192, "k16.f32.bf16.bf16", ", 1", NAMES_96, SUMS_96, 96, 96, 97, 98, 99, 100)
FROM_REGISTERS(Bf16, 256, "k16.f32.bf16.bf16", ", 1", NAMES_128, SUMS_128, 128, 128, 129, 130, 131, 132)
FROM_REGISTERS(float, 128, "k8.f32.tf32.tf32", "", NAMES_64, SUMS_64, 64, 64, 65, 66, 67, 68)
FROM_REGISTERS(float, 256, "k8.f32.tf32.tf32", "", NAMES_128, SUMS_128, 128, 128, 129, 130, 131, 132)
FROM_REGISTERS(E4m3, 128, "k32.f32.e4m3.e4m3", "", NAMES_64, SUMS_64, 64, 64, 65, 66, 67, 68)
FROM_REGISTERS(E4m3, 256, "k32.f32.e4m3.e4m3", "", NAMES_128, SUMS_128, 128, 128, 129, 130, 131, 132)

__device__ constexpr unsigned ones(Bf16) { return 0x3f803f80; }
__device__ constexpr unsigned ones(float) { return 0x3f800000; }
__device__ constexpr unsigned ones(E4m3) { return 0x38383838; }
__device__ constexpr unsigned signs_and_fractions(Bf16) { return 0x807f807f; }
__device__ constexpr unsigned signs_and_fractions(float) { return 0x807fffff; }
__device__ constexpr unsigned signs_and_fractions(E4m3) { return 0x87878787; }

// Numbers from 1 to 2 with signs, without a pattern.
template <typename Element>
__device__ __forceinline__ unsigned number(unsigned i)
{
    i = (i ^ i >> 15) * 0x2c1b3c6du;
    i = (i ^ i >> 12) * 0x297a2d39u;
    return ones(Element()) | ((i ^ i >> 15) & signs_and_fractions(Element()));
}

// A tile of A, 64 rows of 128 bytes, and one of B, 128 bytes of k for N columns.
template <typename Element, int N, int CHAIN, bool FROM_SHARED>
__device__ __forceinline__ void products(int rounds, long long* clocks, float* sink)
{
    char* const shared = dynamic_shared();
    constexpr int ROW_BYTES = 128, A_BYTES = 64 * ROW_BYTES, BYTES = A_BYTES + N * ROW_BYTES;
    constexpr int K_BYTES = 32;  // of a product
    constexpr bool B_BY_K = sizeof(Element) != sizeof(Bf16);
    constexpr int B_STEP = B_BY_K ? K_BYTES : K_BYTES / sizeof(Element) * ROW_BYTES;
    for (unsigned i = threadIdx.x; i < BYTES / 4; i += blockDim.x)
        reinterpret_cast<unsigned*>(shared)[i] = number<Element>(i);
    publish_shared();
    const unsigned long long a = describe(shared_address(shared), 0, 8 * ROW_BYTES);
    const unsigned long long b = describe(shared_address(shared) + A_BYTES, B_BY_K ? 0 : A_BYTES, 8 * ROW_BYTES);
    const unsigned i = 4 * threadIdx.x;
    const unsigned own[4] = {number<Element>(i), number<Element>(i + 1), number<Element>(i + 2),
                             number<Element>(i + 3)};
    float sums[N / 2] = {};
    measure(rounds, clocks, [&] {
        fence_products();
        #pragma unroll
        for (int i = 0; i < CHAIN; ++i) {
            const int step = i % (ROW_BYTES / K_BYTES);
            if constexpr (FROM_SHARED)
                multiply(Element(), sums, a + step * K_BYTES / 16, b + step * B_STEP / 16, 1);
            else
                multiply(Element(), sums, own, b + step * B_STEP / 16);
        }
        commit_products();
        wait_products<0>();
    });
    float sum = 0.0f;
    for (int i = 0; i < N / 2; ++i) sum += sums[i];
    sink[threadIdx.x] = sum;
}

#define PRODUCTS_OF(NAME, ELEMENT, N, CHAIN)                                                                          \
    extern "C" __global__ void __launch_bounds__(2 * GROUP)                                                           \
    products_##NAME##_##N##_shared_##CHAIN(int rounds, long long* clocks, float* sink)                                \
    {                                                                                                                 \
        products<ELEMENT, N, CHAIN, true>(rounds, clocks, sink);                                                      \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(2 * GROUP)                                                           \
    products_##NAME##_##N##_registers_##CHAIN(int rounds, long long* clocks, float* sink)                             \
    {                                                                                                                 \
        products<ELEMENT, N, CHAIN, false>(rounds, clocks, sink);                                                     \
    }
#define PRODUCTS(NAME, ELEMENT, N)                                                                                    \
    PRODUCTS_OF(NAME, ELEMENT, N, 1)                                                                                  \
    PRODUCTS_OF(NAME, ELEMENT, N, 4)                                                                                  \
    PRODUCTS_OF(NAME, ELEMENT, N, 16)
PRODUCTS(bf16, Bf16, 64)
PRODUCTS(bf16, Bf16, 128)
PRODUCTS(bf16, Bf16, 192)
PRODUCTS(bf16, Bf16, 256)
PRODUCTS(tf32, float, 128)
PRODUCTS(tf32, float, 256)
PRODUCTS(e4m3, E4m3, 128)
PRODUCTS(e4m3, E4m3, 256)

// A fence, an empty group and a wait for it.
extern "C" __global__ void __launch_bounds__(2 * GROUP) products_none(int rounds, long long* clocks, float* sink)
{
    measure(rounds, clocks, [] {
        fence_products();
        commit_products();
        wait_products<0>();
    });
}

// Fragments of warps -------------------------------------------------------------------------------------------

#define FRAGMENTS(ELEMENT, TYPES)                                                                                     \
    __device__ __forceinline__ void multiply(ELEMENT, float* acc, const unsigned (&a)[4], const unsigned (&b)[2])     \
    {                                                                                                                 \
        asm volatile("mma.sync.aligned." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"     \
                     : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                         \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                             \
    }
FRAGMENTS(Bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
FRAGMENTS(float, "m16n8k8.row.col.f32.tf32.tf32.f32")

// Half the k, in half the registers.
struct ShortTf32 {};
__device__ constexpr unsigned ones(ShortTf32) { return ones(float()); }
__device__ constexpr unsigned signs_and_fractions(ShortTf32) { return signs_and_fractions(float()); }
__device__ __forceinline__ void multiply(ShortTf32, float* acc, const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

template <typename Element, int CHAINS>
__device__ __forceinline__ void fragments(int rounds, long long* clocks, float* sink)
{
    float sums[CHAINS][4] = {};
    const unsigned a[4] = {number<Element>(threadIdx.x), 0, 0, 0}, b[2] = {number<Element>(threadIdx.x + 1), 0};
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) multiply(Element(), sums[i % CHAINS], a, b);
    });
    float sum = 0.0f;
    for (int i = 0; i < CHAINS; ++i) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
    sink[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(512) mma_bf16(int rounds, long long* clocks, float* sink)
{
    fragments<Bf16, 8>(rounds, clocks, sink);
}

extern "C" __global__ void __launch_bounds__(512) mma_tf32(int rounds, long long* clocks, float* sink)
{
    fragments<float, 8>(rounds, clocks, sink);
}

extern "C" __global__ void __launch_bounds__(512) mma_tf32_k4(int rounds, long long* clocks, float* sink)
{
    fragments<ShortTf32, 8>(rounds, clocks, sink);
}

extern "C" __global__ void __launch_bounds__(512) mma_bf16_chain(int rounds, long long* clocks, float* sink)
{
    fragments<Bf16, 1>(rounds, clocks, sink);
}

// Rows of 16 bytes, side by side: no conflicts. Each load adds what it found, zeros, to the next one's address.
template <int CHAINS>
__device__ __forceinline__ void load_fragments(int rounds, long long* clocks, float* sink)
{
    __shared__ __align__(128) int memory[WARP_SIZE * PIECE_BYTES / 4];
    for (int i = threadIdx.x; i < WARP_SIZE * PIECE_BYTES / 4; i += blockDim.x) memory[i] = 0;
    unsigned at[CHAINS], sum = 0;
    for (int i = 0; i < CHAINS; ++i) at[i] = shared_address(memory) + threadIdx.x % WARP_SIZE * PIECE_BYTES;
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            unsigned words[4];
            load_matrices(words, at[i % CHAINS]);
            at[i % CHAINS] += words[0];
        }
    });
    for (int i = 0; i < CHAINS; ++i) sum += at[i];
    sink[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(512) load_matrices_many(int rounds, long long* clocks, float* sink)
{
    load_fragments<8>(rounds, clocks, sink);
}

extern "C" __global__ void __launch_bounds__(512) load_matrices_chain(int rounds, long long* clocks, float* sink)
{
    load_fragments<1>(rounds, clocks, sink);
}

extern "C" __global__ void __launch_bounds__(512) store_matrices_many(int rounds, long long* clocks, float* sink)
{
    __shared__ __align__(128) char memory[16 * 512];
    const unsigned at = shared_address(memory) + threadIdx.x * PIECE_BYTES;
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) store_matrices(at, at, at, at, at);
    });
}

// Barriers -----------------------------------------------------------------------------------------------------

constexpr int SLOTS = 8;

// So many barriers. More arrivals than a barrier expects would be the end of the launch.
__device__ __forceinline__ unsigned make_barriers(int count, int arrivals = 1)
{
    __shared__ unsigned long long barriers[2 * SLOTS];
    const unsigned first = shared_address(barriers);
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; ++i) init_barrier(first + 8 * i, arrivals);
        publish_barriers();
    }
    __syncthreads();
    return first;
}

// Two warps, to and fro.
extern "C" __global__ void __launch_bounds__(64) barrier_turns(int rounds, long long* clocks, float* sink)
{
    const unsigned barriers = make_barriers(2);
    const bool begins = threadIdx.x < WARP_SIZE, is_first = threadIdx.x % WARP_SIZE == 0;
    const unsigned own = barriers + (begins ? 0 : 8), other = barriers + (begins ? 8 : 0);
    int parity = 0;
    measure(rounds, clocks, [&] {
        if (begins && is_first) arrive(other);
        wait(own, parity);
        if (!begins && is_first) arrive(other);
        parity ^= 1;
    });
}

// Two blocks of a cluster, to and fro.
extern "C" __global__ void __launch_bounds__(WARP_SIZE) __cluster_dims__(2, 1, 1)
barrier_turns_in_cluster(int rounds, long long* clocks, float* sink)
{
    const unsigned own = make_barriers(1);
    const int rank = rank_in_cluster();
    const bool is_first = threadIdx.x == 0;
    int parity = 0;
    sync_cluster();
    measure(rounds, clocks, [&] {
        if (rank == 0 && is_first) arrive_in(own, 1);
        wait(own, parity);
        if (rank == 1 && is_first) arrive_in(own, 0);
        parity ^= 1;
    });
    sync_cluster();
}

#define REPEATED(NAME, THREADS, ...)                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(int rounds, long long* clocks, float* sink)            \
    {                                                                                                                 \
        [[maybe_unused]] const unsigned barrier = make_barriers(1, blockDim.x);                                       \
        measure(rounds, clocks, [&] {                                                                                 \
            _Pragma("unroll")                                                                                         \
            for (int i = 0; i < UNROLL; ++i) __VA_ARGS__;                                                             \
        });                                                                                                           \
    }
REPEATED(barrier_passed, 32, wait(barrier, 1))
REPEATED(barrier_arrive, 32, arrive(barrier))
REPEATED(barrier_expect, 32, arrive_and_expect(barrier, 0))
REPEATED(barrier_named_64, 64, asm volatile("bar.sync 1, 64;" ::: "memory"))
REPEATED(barrier_named_128, 128, asm volatile("bar.sync 1, 128;" ::: "memory"))
REPEATED(barrier_named_256, 256, asm volatile("bar.sync 1, 256;" ::: "memory"))
REPEATED(barrier_named_384, 384, asm volatile("bar.sync 1, 384;" ::: "memory"))
REPEATED(publish, 32, publish_shared())
REPEATED(__cluster_dims__(2, 1, 1) barrier_cluster_2, 256, sync_cluster())
REPEATED(__cluster_dims__(4, 1, 1) barrier_cluster_4, 256, sync_cluster())
REPEATED(__cluster_dims__(2, 1, 1) barrier_cluster_relaxed_2, 256, meet_in_cluster())

// Fences, and stores for others to see -------------------------------------------------------------------------

__device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

REPEATED(fence_alone, 256, fence())
REPEATED(fence_after_store, 256,
    { *reinterpret_cast<volatile int*>(sink + threadIdx.x) = i; fence(); })

constexpr int PLACES = 8;  // of 16 bytes for each thread

// The first of the places of a thread in the other block.
__device__ __forceinline__ unsigned places_of_the_other()
{
    __shared__ int4 places[PLACES * 256];
    return address_in(shared_address(places + threadIdx.x), rank_in_cluster() ^ 1);
}

__device__ __forceinline__ void store_there(unsigned first, int place)
{
    asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %1, %1, %1};"
                 :: "r"(first + place * static_cast<unsigned>(256 * sizeof(int4))), "r"(place) : "memory");
}

// Stores to the other block; and, PLACES at a time, until they can be seen there.
extern "C" __global__ void __launch_bounds__(256) __cluster_dims__(2, 1, 1)
remote_stores(int rounds, long long* clocks, float* sink)
{
    const unsigned first = places_of_the_other();
    sync_cluster();
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) store_there(first, i % PLACES);
    });
    sync_cluster();
}

extern "C" __global__ void __launch_bounds__(256) __cluster_dims__(2, 1, 1)
remote_exchange(int rounds, long long* clocks, float* sink)
{
    const unsigned first = places_of_the_other();
    sync_cluster();
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < PLACES; ++i) store_there(first, i);
        sync_cluster();
    });
}

// Code that no loop has run before ------------------------------------------------------------------------------

template <int N>
__device__ __forceinline__ void run_in_a_row(int rounds, long long* clocks, float* sink)
{
    float sum = threadIdx.x;
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < N; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
    });
    sink[threadIdx.x] = sum;
}

#define CODE(N)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(128) code_##N(int rounds, long long* clocks, float* sink)            \
    {                                                                                                                 \
        run_in_a_row<N>(rounds, clocks, sink);                                                                        \
    }
CODE(64)
CODE(1024)

// Launches -----------------------------------------------------------------------------------------------------

__device__ int last[LAST];

// `to` is null.
__device__ __forceinline__ void do_nothing(int* to)
{
    if (to != nullptr) *to = 0;
}

extern "C" __global__ void nothing(int* to) { do_nothing(to); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) nothing_in_cluster(int* to) { do_nothing(to); }
extern "C" __global__ void nothing_but_a_store(int* to)
{
    last[(blockIdx.x * blockDim.x + threadIdx.x) % LAST] = to != nullptr;
}

// The next launch may begin at once, and waits until this one has ended.
extern "C" __global__ void nothing_dependent(int* to)
{
    let_next_begin();
    wait_for_previous();
    do_nothing(to);
}
extern "C" __global__ void nothing_dependent_but_a_store(int* to)
{
    let_next_begin();
    wait_for_previous();
    last[(blockIdx.x * blockDim.x + threadIdx.x) % LAST] = to != nullptr;
}

// Copies -------------------------------------------------------------------------------------------------------

// How a block walks through a matrix: down a strip as wide as a box.
struct Walk {
    int depth;       // copies under way
    int bytes;       // of a box
    int x, y;        // of the first block's first box
    int cols, rows;  // of a box, for a bulk copy 1
    int strips;      // side by side
    int block_rows;  // from the strips of a row of blocks to those of the next
    int span;        // rows after which a block begins again
    int share;       // blocks that walk over the same boxes
};

struct Place {
    int x, first, y, rows, end;
    __device__ __forceinline__ explicit Place(const Walk& walk)
    {
        const int own = blockIdx.x / walk.share;
        x = walk.x + own % walk.strips * walk.cols;
        first = y = walk.y + own / walk.strips * walk.block_rows;
        rows = walk.rows;
        end = first + walk.span;
    }
    __device__ __forceinline__ void advance()
    {
        y += rows;
        if (y >= end) y = first;
    }
};

// Where the slot is that follows.
__device__ __forceinline__ void advance(int& slot, int& parity, int depth)
{
    if (++slot == depth) slot = 0, parity ^= 1;
}

// `copy(slot, x, y)` starts one. One thread does all: it waits for the oldest copy, and starts another in its place.
template <class Copy>
__device__ __forceinline__ void walk_over(int rounds, long long* clocks, const Walk& walk, unsigned barriers, Copy copy)
{
    if (threadIdx.x != 0) return;
    Place place(walk);
    const auto start_copy = [&](int slot) {
        arrive_and_expect(barriers + 8 * slot, walk.bytes);
        copy(slot, place);
        place.advance();
    };
    const long long start = clock64();
    for (int slot = 0; slot < walk.depth; ++slot) start_copy(slot);
    int slot = 0, parity = 0;
    #pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
        wait(barriers + 8 * slot, parity);
        start_copy(slot);
        advance(slot, parity, walk.depth);
    }
    for (int i = 0; i < walk.depth; ++i) {
        wait(barriers + 8 * slot, parity);
        advance(slot, parity, walk.depth);
    }
    clocks[2 * blockIdx.x] = start;
    clocks[2 * blockIdx.x + 1] = clock64();
}

extern "C" __global__ void __launch_bounds__(WARP_SIZE)
boxes(int rounds, long long* clocks, Walk walk, const __grid_constant__ TensorMap map)
{
    char* const shared = dynamic_shared();
    const unsigned tiles = shared_address(shared), barriers = make_barriers(SLOTS);
    walk_over(rounds, clocks, walk, barriers, [&](int slot, const Place& place) {
        copy_box(tiles + slot * walk.bytes, map, place.x, place.y, barriers + 8 * slot);
    });
}

// Here `x` and `y` count bytes: `x` is where the walk begins, and a row is one.
extern "C" __global__ void __launch_bounds__(WARP_SIZE)
bulk(int rounds, long long* clocks, Walk walk, const char* memory)
{
    char* const shared = dynamic_shared();
    const unsigned tiles = shared_address(shared), barriers = make_barriers(SLOTS);
    walk_over(rounds, clocks, walk, barriers, [&](int slot, const Place& place) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(tiles + slot * walk.bytes), "l"(memory + place.x + place.y), "r"(walk.bytes),
                        "r"(barriers + 8 * slot) : "memory");
    });
}

// Clocks until SLOTS copies are started, without the wait for them.
extern "C" __global__ void __launch_bounds__(WARP_SIZE)
boxes_start(int rounds, long long* clocks, Walk walk, const __grid_constant__ TensorMap map)
{
    char* const shared = dynamic_shared();
    const unsigned tiles = shared_address(shared), barrier = make_barriers(1);
    if (threadIdx.x != 0) return;
    const Place place(walk);
    long long sum = 0;
    for (int i = 0; i < rounds; ++i) {
        arrive_and_expect(barrier, SLOTS * walk.bytes);
        const long long start = clock64();
        #pragma unroll
        for (int slot = 0; slot < SLOTS; ++slot) copy_box(tiles + slot * walk.bytes, map, place.x, place.y, barrier);
        sum += clock64() - start;
        wait(barrier, i % 2);
    }
    clocks[0] = 1;
    clocks[1] = 1 + sum;
}

// From shared memory. DEPTH groups at most still read it; ALL: or write.
template <int DEPTH, bool ALL>
__device__ __forceinline__ void boxes_out(int rounds, long long* clocks, const Walk& walk, const TensorMap& map)
{
    char* const shared = dynamic_shared();
    for (int i = threadIdx.x; i < DEPTH * walk.bytes / 4; i += blockDim.x) reinterpret_cast<int*>(shared)[i] = i;
    publish_shared();
    __syncthreads();
    if (threadIdx.x != 0) return;
    Place place(walk);
    int slot = 0, parity = 0;
    const long long start = clock64();
    #pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
        store_box(map, place.x, place.y, shared_address(shared) + slot * walk.bytes);
        place.advance();
        advance(slot, parity, DEPTH);
        if constexpr (ALL)
            asm volatile("cp.async.bulk.wait_group %0;" :: "n"(DEPTH - 1) : "memory");
        else
            wait_stores_read<DEPTH - 1>();
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    clocks[2 * blockIdx.x] = start;
    clocks[2 * blockIdx.x + 1] = clock64();
}

#define BOXES_OUT(NAME, DEPTH, ALL)                                                                                   \
    extern "C" __global__ void __launch_bounds__(128)                                                                 \
    boxes_out_##NAME(int rounds, long long* clocks, Walk walk, const __grid_constant__ TensorMap map)                 \
    {                                                                                                                 \
        boxes_out<DEPTH, ALL>(rounds, clocks, walk, map);                                                             \
    }
BOXES_OUT(read_1, 1, false)
BOXES_OUT(read_4, 4, false)
BOXES_OUT(written_1, 1, true)

// As sums of a product leave registers: of each instruction four lanes side by side, in eight rows of 1 KB, and of a
// block of eight warps 64 rows again and again. `bytes` of a block apart.
template <typename Value>
__device__ __forceinline__ void store_rows(int rounds, long long* clocks, const Walk& walk, char* memory)
{
    constexpr int ROW = 1024;
    const int lane = threadIdx.x % WARP_SIZE, row = threadIdx.x / WARP_SIZE * 8 + lane / 4;
    Value* const to = reinterpret_cast<Value*>(memory + blockIdx.x * walk.bytes + row * ROW) + lane % 4;
    measure(rounds, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) to[4 * i] = Value{};
    });
}

extern "C" __global__ void __launch_bounds__(256)
stores_4(int rounds, long long* clocks, Walk walk, char* memory)
{
    store_rows<volatile unsigned>(rounds, clocks, walk, memory);
}

extern "C" __global__ void __launch_bounds__(256)
stores_8(int rounds, long long* clocks, Walk walk, char* memory)
{
    store_rows<volatile unsigned long long>(rounds, clocks, walk, memory);
}

// Each block of a cluster copies a box of its own to all of them, to its own place there. Who has all of a slot's boxes
// says so to all; only then they are overwritten.
template <int BLOCKS>
__device__ __forceinline__ void multicast(int rounds, long long* clocks, const Walk& walk, const TensorMap& map)
{
    char* const shared = dynamic_shared();
    __shared__ unsigned long long barriers[2 * SLOTS];
    const unsigned full = shared_address(barriers), empty = full + 8 * SLOTS;
    const int rank = rank_in_cluster();
    if (threadIdx.x == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init_barrier(full + 8 * i, 1);
            init_barrier(empty + 8 * i, BLOCKS);
        }
        publish_barriers();
    }
    sync_cluster();
    if (threadIdx.x == 0) {
        Place place(walk);
        const unsigned own = shared_address(shared) + rank * walk.bytes;
        int slot = 0, parity = 1, oldest = 0, oldest_parity = 0;
        const long long start = clock64();
        #pragma unroll 1
        for (int i = 0; i < rounds + walk.depth - 1; ++i) {
            if (i < rounds) {
                wait(empty + 8 * slot, parity);
                arrive_and_expect(full + 8 * slot, BLOCKS * walk.bytes);
                copy_box_to_all(own + slot * BLOCKS * walk.bytes, map, place.x, place.y, full + 8 * slot,
                                (1 << BLOCKS) - 1);
                place.advance();
                advance(slot, parity, walk.depth);
            }
            if (i >= walk.depth - 1) {
                wait(full + 8 * oldest, oldest_parity);
                for (int block = 0; block < BLOCKS; ++block) arrive_in(empty + 8 * oldest, block);
                advance(oldest, oldest_parity, walk.depth);
            }
        }
        clocks[2 * blockIdx.x] = start;
        clocks[2 * blockIdx.x + 1] = clock64();
    }
    sync_cluster();
}

extern "C" __global__ void __launch_bounds__(WARP_SIZE) __cluster_dims__(2, 1, 1)
multicast_2(int rounds, long long* clocks, Walk walk, const __grid_constant__ TensorMap map)
{
    multicast<2>(rounds, clocks, walk, map);
}

extern "C" __global__ void __launch_bounds__(WARP_SIZE) __cluster_dims__(4, 1, 1)
multicast_4(int rounds, long long* clocks, Walk walk, const __grid_constant__ TensorMap map)
{
    multicast<4>(rounds, clocks, walk, map);
}
