// ceilings.cu: how many operations the units of a multiprocessor do alone, and how fast L2 brings bytes.
//
// ceiling_fma:    multiply-adds of FP32 from registers, for comparison.
// ceiling_mma_*:  mma.sync from registers: a warp has 4 fragments of A, 4 of B, and the 16 products of them.
// ceiling_wgmma_*: wgmma m64n256 from shared memory, which is written once. Rows of 128 bytes with neighbouring k side
//                  by side, the one layout that exists for all types, swizzled as v12's tiles.
// ceiling_l2_*:   bytes that stay in L2, read by all multiprocessors at once: each block reads bytes that no other reads,
//                  or all read the same. Requests for the same bytes are merged on their way, so that L2 serves a part
//                  of them only. A product is between the two: blocks of a row share their tile of A, blocks of a
//                  column that of B.
// A round begins with new sums: sums that only grow would leave nothing of later products.
// `numbers` are what A and B consist of. Zeros switch fewer transistors, take less power and run faster.
// Each block writes its clocks and nanoseconds before the first round and after the last, and each thread a sum, so
// that the compiler cannot leave the products out.
// Launch: one block per SM, THREADS threads at most; wgmma: whole warpgroups, shared memory for A and B.
// arch: compute_90a
#include "v12_tiles.cuh"

constexpr int THREADS = 512;
constexpr int FRAGMENTS = 4;                         // of A and of B that a warp has
constexpr int CHAINS = FRAGMENTS * FRAGMENTS;        // sums that do not wait for each other
constexpr int FMA_STEPS = 32, MMA_STEPS = 16, WGMMA_STEPS = 64;
constexpr int FMA_PER_ROUND = CHAINS * FMA_STEPS, MMA_PER_ROUND = CHAINS * MMA_STEPS;  // of a warp
constexpr int ROW_BYTES = 128, K_BYTES = 32;         // of a row in shared memory, and what of it one product takes
constexpr int WGMMA_PER_ROUND = WGMMA_STEPS * (ROW_BYTES / K_BYTES);                   // of a warpgroup
constexpr int WGMMA_ROWS = 64, WGMMA_COLS = 256;
constexpr int WORDS = 12288;                         // of `numbers`
constexpr int A_WORDS = FRAGMENTS * 4, B_WORDS = FRAGMENTS * 2;  // registers of a thread
constexpr int LOADS = 8;                             // of ceiling_l2_*, for each thread and round, 16 bytes each
constexpr int L2_CHUNKS = 512, OWN_CHUNKS = 2;       // that all blocks read, and of one block: one in a round
static_assert(FMA_PER_ROUND == 512 && MMA_PER_ROUND == 256 && WGMMA_PER_ROUND == 256, "the launcher counts with them");
static_assert((A_WORDS + B_WORDS) * THREADS == WORDS, "each thread has words of its own");
static_assert((2 * WGMMA_ROWS + WGMMA_COLS) * ROW_BYTES == WORDS * sizeof(unsigned), "two warpgroups");

struct Times {
    long long clocks[2], nanoseconds[2];
};

// ANCHOR: measure
template <class Round>
__device__ __forceinline__ void measure(int rounds, Times* times, Round round)
{
    long long clocks[2], nanoseconds[2];
    __syncthreads();  // all have their numbers -> the clock may start
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds[0]) :: "memory");
    clocks[0] = clock64();
    #pragma unroll 1
    for (int i = 0; i < rounds; ++i) round();
    __syncthreads();  // all rounds are done -> the clock may stop
    clocks[1] = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds[1]) :: "memory");
    if (threadIdx.x == 0)
        times[blockIdx.x] = {{clocks[0], clocks[1]}, {nanoseconds[0], nanoseconds[1]}};
}
// ANCHOR_END: measure

extern "C" __global__ void __launch_bounds__(THREADS)
ceiling_fma(int rounds, const unsigned* numbers, Times* times, float* sums)
{
    // |factor| < 1, so that sums stay finite; several of them, so that they do not come to rest.
    float factor[FRAGMENTS], addend[FRAGMENTS], acc[CHAINS];
    #pragma unroll
    for (int i = 0; i < FRAGMENTS; ++i) {
        factor[i] = __uint_as_float(numbers[i * blockDim.x + threadIdx.x]);
        addend[i] = __uint_as_float(numbers[(FRAGMENTS + i) * blockDim.x + threadIdx.x]);
    }
    #pragma unroll
    for (int i = 0; i < CHAINS; ++i) acc[i] = static_cast<float>(i);
    measure(rounds, times, [&] {
        #pragma unroll
        for (int step = 0; step < FMA_STEPS; ++step) {
            #pragma unroll
            for (int i = 0; i < CHAINS; ++i)
                asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                             : "+f"(acc[i]) : "f"(factor[step % FRAGMENTS]), "f"(addend[step % FRAGMENTS]));
        }
    });
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < CHAINS; ++i) sum += acc[i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ANCHOR: mma
__device__ __forceinline__ void mma_bf16(float (&d)[4], const unsigned* a, const unsigned* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void mma_tf32(float (&d)[4], const unsigned* a, const unsigned* b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class Multiply>
__device__ __forceinline__ void warps(int rounds, const unsigned* numbers, Times* times, float* sums,
                                      Multiply multiply_add)
{
    unsigned a[A_WORDS], b[B_WORDS];
    #pragma unroll
    for (int i = 0; i < A_WORDS; ++i) a[i] = numbers[i * blockDim.x + threadIdx.x];
    #pragma unroll
    for (int i = 0; i < B_WORDS; ++i) b[i] = numbers[(A_WORDS + i) * blockDim.x + threadIdx.x];
    float acc[FRAGMENTS][FRAGMENTS][4];
    measure(rounds, times, [&] {
        #pragma unroll
        for (int step = 0; step < MMA_STEPS; ++step) {
            #pragma unroll
            for (int i = 0; i < FRAGMENTS; ++i) {
                #pragma unroll
                for (int j = 0; j < FRAGMENTS; ++j) {
                    if (step == 0) acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0.0f;
                    multiply_add(acc[i][j], &a[4 * i], &b[2 * j]);
                }
            }
        }
    });
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < CHAINS * 4; ++i) sum += (&acc[0][0][0])[i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// ANCHOR_END: mma

extern "C" __global__ void __launch_bounds__(THREADS)
ceiling_mma_bf16(int rounds, const unsigned* numbers, Times* times, float* sums)
{
    warps(rounds, numbers, times, sums,
          [](float (&d)[4], const unsigned* a, const unsigned* b) { mma_bf16(d, a, b); });
}

extern "C" __global__ void __launch_bounds__(THREADS)
ceiling_mma_tf32(int rounds, const unsigned* numbers, Times* times, float* sums)
{
    warps(rounds, numbers, times, sums,
          [](float (&d)[4], const unsigned* a, const unsigned* b) { mma_tf32(d, a, b); });
}

// ANCHOR: wgmma
constexpr int ACC = WGMMA_ROWS * WGMMA_COLS / GROUP;

#define CEILING_PRODUCT(NAME, TYPES, LAYOUT)                                                                          \
    __device__ __forceinline__ void NAME(float (&d)[ACC], unsigned long long a, unsigned long long b, int adds)       \
    {                                                                                                                 \
        asm volatile("{\n"                                                                                            \
                     ".reg .pred adds;\n"                                                                             \
                     "setp.ne.b32 adds, %130, 0;\n"                                                                   \
                     "wgmma.mma_async.sync.aligned.m64n256" TYPES                                                     \
                     " {" NAMES_128 "}, %128, %129, adds, 1, 1" LAYOUT ";\n"                                          \
                     "}" : SUMS_128(d, 0) : "l"(a), "l"(b), "r"(adds));                                               \
    }
CEILING_PRODUCT(wgmma_bf16, "k16.f32.bf16.bf16", ", 0, 0")
CEILING_PRODUCT(wgmma_tf32, "k8.f32.tf32.tf32", "")
CEILING_PRODUCT(wgmma_e4m3, "k32.f32.e4m3.e4m3", "")

template <class Multiply>
__device__ __forceinline__ void warpgroups(int rounds, const unsigned* numbers, Times* times, float* sums,
                                           Multiply product)
{
    extern __shared__ __align__(1024) unsigned shared[];
    const int groups = blockDim.x / GROUP, a_bytes = groups * WGMMA_ROWS * ROW_BYTES;
    const int words = (a_bytes + WGMMA_COLS * ROW_BYTES) / static_cast<int>(sizeof(unsigned));
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = numbers[i];
    publish_shared();
    const unsigned tiles = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const unsigned long long a = describe(tiles + threadIdx.x / GROUP * WGMMA_ROWS * ROW_BYTES, 0, 8 * ROW_BYTES);
    const unsigned long long b = describe(tiles + a_bytes, 0, 8 * ROW_BYTES);
    float acc[ACC];
    #pragma unroll
    for (int i = 0; i < ACC; ++i) acc[i] = 0.0f;
    measure(rounds, times, [&] {
        #pragma unroll 1
        for (int step = 0; step < WGMMA_STEPS; ++step) {
            fence_products();
            #pragma unroll
            for (int k = 0; k < ROW_BYTES; k += K_BYTES) product(acc, a + k / 16, b + k / 16, step + k);
            commit_products();
            wait_products<1>();
        }
        wait_products<0>();
    });
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < ACC; ++i) sum += acc[i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// ANCHOR_END: wgmma

extern "C" __global__ void __launch_bounds__(2 * GROUP)
ceiling_wgmma_bf16(int rounds, const unsigned* numbers, Times* times, float* sums)
{
    warpgroups(rounds, numbers, times, sums,
               [](float (&d)[ACC], unsigned long long a, unsigned long long b, int adds) { wgmma_bf16(d, a, b, adds); });
}

extern "C" __global__ void __launch_bounds__(2 * GROUP)
ceiling_wgmma_tf32(int rounds, const unsigned* numbers, Times* times, float* sums)
{
    warpgroups(rounds, numbers, times, sums,
               [](float (&d)[ACC], unsigned long long a, unsigned long long b, int adds) { wgmma_tf32(d, a, b, adds); });
}

extern "C" __global__ void __launch_bounds__(2 * GROUP)
ceiling_wgmma_e4m3(int rounds, const unsigned* numbers, Times* times, float* sums)
{
    warpgroups(rounds, numbers, times, sums,
               [](float (&d)[ACC], unsigned long long a, unsigned long long b, int adds) { wgmma_e4m3(d, a, b, adds); });
}

// ANCHOR: l2
template <int CHUNKS>
__device__ __forceinline__ void read_chunks(int rounds, const uint4* bytes, Times* times, float* sums, int first)
{
    unsigned found = 0;
    int chunk = 0;
    measure(rounds, times, [&] {
        const uint4* from = &bytes[(first + chunk) * LOADS * THREADS + threadIdx.x];
        uint4 v[LOADS];
        #pragma unroll
        for (int i = 0; i < LOADS; ++i)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w) : "l"(from + i * THREADS));
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) found ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
        chunk = (chunk + 1) % CHUNKS;
    });
    sums[blockIdx.x * blockDim.x + threadIdx.x] = __uint_as_float(found);
}
// ANCHOR_END: l2

extern "C" __global__ void __launch_bounds__(THREADS)
ceiling_l2_own(int rounds, const uint4* bytes, Times* times, float* sums)
{
    read_chunks<OWN_CHUNKS>(rounds, bytes, times, sums, static_cast<int>(blockIdx.x * OWN_CHUNKS));
}

extern "C" __global__ void __launch_bounds__(THREADS)
ceiling_l2_same(int rounds, const uint4* bytes, Times* times, float* sums)
{
    read_chunks<L2_CHUNKS>(rounds, bytes, times, sums, 0);
}
