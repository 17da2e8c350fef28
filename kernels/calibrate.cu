// calibrate.cu: what one kind of instruction costs, in clocks of the SM.
//
// Each kernel repeats one instruction. A warp reads the SM's clock before its first round and after its last, and
// writes both to clocks[2 * warp] and clocks[2 * warp + 1]; the launcher takes the earliest and the latest, at two
// numbers of rounds, so that whatever happens once falls out of the difference.
//
// cost_*:     one block. `schedulers` is 4, or 1 for the warps of one scheduler alone (warp % 4 == 0).
// chase_*:    one warp, each load at the address that the load before it gave. Latency.
// stream_*:   all SMs, over `n` units; bytes per clock by the device's events.
// empty, spin, touch: blocks that do next to nothing. What launches, blocks and warps cost, and a word from afar.
//
// What a compiler makes of these loops is not ours to say. tests/it/calibrate.rs looks at the machine code for sm_90:
// whether each round is what it is meant to be, and nothing else.

constexpr int OPS = 64;       // repetitions of the instruction in a round: the loop itself is a small part
constexpr int CHAINS = 8;     // independent ones, so that latency is hidden
constexpr int WARPS = 16;     // of a block of cost_*: four for each scheduler
static_assert(OPS % CHAINS == 0, "rounds are whole");

// ANCHOR: measure
template <class Round>
__device__ __forceinline__ void measure(int rounds, int schedulers, long long* clocks, Round round)
{
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp % 4 >= schedulers) return;
    const long long start = clock64();
    #pragma unroll 1
    for (int i = 0; i < rounds; ++i) round();
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) {
        clocks[2 * warp] = start;
        clocks[2 * warp + 1] = end;
    }
}
// ANCHOR_END: measure

// CHAINS registers and a round of OPS instructions on them. `Op` is called with a register, its right neighbour and
// a register that does not change.
template <class T, class Op>
__device__ __forceinline__ void repeat(int rounds, int schedulers, long long* clocks, T* sink, Op op)
{
    T value[CHAINS];
    #pragma unroll
    for (int i = 0; i < CHAINS; ++i) value[i] = sink[i];
    const T other = sink[CHAINS];
    measure(rounds, schedulers, clocks, [&] {
        #pragma unroll
        for (int step = 0; step < OPS / CHAINS; ++step) {
            #pragma unroll
            for (int i = 0; i < CHAINS; ++i) op(value[i], value[(i + 1) % CHAINS], other);
        }
    });
    #pragma unroll
    for (int i = 0; i < CHAINS; ++i) sink[CHAINS + 1 + i] = value[i];
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
cost_fma(int rounds, int schedulers, long long* clocks, float* sink)
{
    repeat(rounds, schedulers, clocks, sink,
           [](float& x, float, float y) { asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x) : "f"(y)); });
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
cost_double(int rounds, int schedulers, long long* clocks, double* sink)
{
    repeat(rounds, schedulers, clocks, sink,
           [](double& x, double, double y) { asm volatile("fma.rn.f64 %0, %0, %1, %0;" : "+d"(x) : "d"(y)); });
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
cost_integer_fma(int rounds, int schedulers, long long* clocks, int* sink)
{
    repeat(rounds, schedulers, clocks, sink,
           [](int& x, int, int y) { asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(x) : "r"(y)); });
}

// The majority of three words, bit by bit: nothing that a compiler would shorten.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
cost_alu(int rounds, int schedulers, long long* clocks, int* sink)
{
    repeat(rounds, schedulers, clocks, sink, [](int& x, int next, int y) {
        asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(x) : "r"(next), "r"(y));
    });
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
cost_special(int rounds, int schedulers, long long* clocks, float* sink)
{
    repeat(rounds, schedulers, clocks, sink,
           [](float& x, float, float) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); });
}

// With any number of warps.
extern "C" __global__ void __launch_bounds__(1024)
cost_barrier(int rounds, int schedulers, long long* clocks)
{
    measure(rounds, schedulers, clocks, [] {
        #pragma unroll
        for (int i = 0; i < OPS; ++i) asm volatile("bar.sync 0;" ::: "memory");
    });
}

// Shared memory: each lane its own words, so that nothing conflicts. ------------------------------------------

template <int BYTES> __device__ __forceinline__ void load_shared(unsigned& first, unsigned address)
{
    unsigned rest[3];
    if constexpr (BYTES == 4) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(first) : "r"(address));
    if constexpr (BYTES == 8)
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(first), "=r"(rest[0]) : "r"(address));
    if constexpr (BYTES == 16)
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(first), "=r"(rest[0]), "=r"(rest[1]), "=r"(rest[2]) : "r"(address));
}

template <int BYTES> __device__ __forceinline__ void store_shared(unsigned address, unsigned word)
{
    if constexpr (BYTES == 4) asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(address), "r"(word));
    if constexpr (BYTES == 8)
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" :: "r"(address), "r"(word));
    if constexpr (BYTES == 16)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(address), "r"(word));
}

constexpr int SHARED_BYTES = 16 * 32 * WARPS;  // 16 bytes for each thread

// Where this thread's words of shared memory are, with every word of its block set to that of the thread's own.
__device__ __forceinline__ unsigned own_words(unsigned* memory, int bytes)
{
    const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(memory)) + threadIdx.x * bytes;
    for (int i = 0; i < bytes / 4; ++i) memory[threadIdx.x * bytes / 4 + i] = own;
    __syncthreads();
    return own;
}

#define SHARED_KERNELS(BYTES)                                                                                      \
    extern "C" __global__ void __launch_bounds__(32 * WARPS)                                                       \
    cost_load_shared_##BYTES(int rounds, int schedulers, long long* clocks, unsigned* sink)                        \
    {                                                                                                              \
        __shared__ unsigned memory[SHARED_BYTES / 4];                                                              \
        const unsigned address = own_words(memory, BYTES);                                                         \
        unsigned value[CHAINS] = {};                                                                               \
        measure(rounds, schedulers, clocks, [&] {                                                                  \
            _Pragma("unroll")                                                                                      \
            for (int i = 0; i < OPS; ++i) load_shared<BYTES>(value[i % CHAINS], address);                          \
        });                                                                                                        \
        for (int i = 0; i < CHAINS; ++i) sink[i] = value[i];                                                       \
    }                                                                                                              \
    extern "C" __global__ void __launch_bounds__(32 * WARPS)                                                       \
    cost_store_shared_##BYTES(int rounds, int schedulers, long long* clocks, unsigned* sink)                       \
    {                                                                                                              \
        __shared__ unsigned memory[SHARED_BYTES / 4];                                                              \
        const unsigned address = own_words(memory, BYTES);                                                         \
        measure(rounds, schedulers, clocks, [&] {                                                                  \
            _Pragma("unroll")                                                                                      \
            for (int i = 0; i < OPS; ++i) store_shared<BYTES>(address, address);                                   \
        });                                                                                                        \
    }                                                                                                              \
    extern "C" __global__ void __launch_bounds__(32)                                                               \
    chase_shared_##BYTES(int rounds, int schedulers, long long* clocks, unsigned* sink)                            \
    {                                                                                                              \
        __shared__ unsigned memory[SHARED_BYTES / 4];                                                              \
        unsigned address = own_words(memory, BYTES);                                                               \
        measure(rounds, schedulers, clocks, [&] {                                                                  \
            _Pragma("unroll")                                                                                      \
            for (int i = 0; i < OPS; ++i) load_shared<BYTES>(address, address);                                    \
        });                                                                                                        \
        sink[threadIdx.x] = address;                                                                               \
    }

SHARED_KERNELS(4)
SHARED_KERNELS(8)
SHARED_KERNELS(16)

// Constant memory --------------------------------------------------------------------------------------------

__constant__ unsigned zeros[32];

// At addresses that the compiler cannot know to be one for the whole warp.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
cost_load_constant(int rounds, int schedulers, long long* clocks, unsigned* sink)
{
    unsigned value[CHAINS];
    for (int i = 0; i < CHAINS; ++i) value[i] = sink[i * 32 * WARPS + threadIdx.x];
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_constant(zeros));
    measure(rounds, schedulers, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < OPS; ++i)
            asm volatile("ld.const.u32 %0, [%1];" : "=r"(value[i % CHAINS]) : "r"(base + value[i % CHAINS]));
    });
    for (int i = 0; i < CHAINS; ++i) sink[i * 32 * WARPS + threadIdx.x] = value[i];
}

// One after the other.
extern "C" __global__ void __launch_bounds__(32)
chase_constant(int rounds, int schedulers, long long* clocks, unsigned* sink)
{
    unsigned value = sink[threadIdx.x];
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_constant(zeros));
    measure(rounds, schedulers, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < OPS; ++i) asm volatile("ld.const.u32 %0, [%1];" : "=r"(value) : "r"(base + value));
    });
    sink[threadIdx.x] = value;
}

// Global memory ----------------------------------------------------------------------------------------------

// A load whose result is the next address. 4 bytes: the low word; the high word stays. 16 bytes: the first half is the
// address, and the other one is used beside it, or the compiler would load less.
template <int BYTES> struct Link;

template <> struct Link<4> {
    unsigned low, high;
    __device__ explicit Link(unsigned long long at) : low(static_cast<unsigned>(at)), high(at >> 32) {}
    __device__ __forceinline__ void follow()
    {
        asm volatile("{ .reg .b64 at; mov.b64 at, {%0, %1}; ld.global.u32 %0, [at]; }" : "+r"(low) : "r"(high));
    }
    __device__ unsigned used() const { return low; }
};

template <> struct Link<8> {
    unsigned long long at;
    __device__ explicit Link(unsigned long long at) : at(at) {}
    __device__ __forceinline__ void follow() { asm volatile("ld.global.u64 %0, [%0];" : "+l"(at)); }
    __device__ unsigned used() const { return static_cast<unsigned>(at); }
};

template <> struct Link<16> {
    unsigned long long at;
    unsigned others = 0;
    __device__ explicit Link(unsigned long long at) : at(at) {}
    __device__ __forceinline__ void follow()
    {
        unsigned low, high, z, w;
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(low), "=r"(high), "=r"(z), "=r"(w) : "l"(at));
        asm("mov.b64 %0, {%1, %2};" : "=l"(at) : "r"(low), "r"(high));
        asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(others) : "r"(z), "r"(w));
    }
    __device__ unsigned used() const { return static_cast<unsigned>(at) + others; }
};

// `links`: at each place a thread reads, 16 bytes apart, its own address.
#define GLOBAL_KERNELS(BYTES)                                                                                      \
    extern "C" __global__ void __launch_bounds__(32 * WARPS)                                                       \
    cost_load_l1_##BYTES(int rounds, int schedulers, long long* clocks, unsigned* sink, unsigned long long links)  \
    {                                                                                                              \
        const auto link_of = [&](int i) { return Link<BYTES>(links + (i * 32 * WARPS + threadIdx.x) * 16); };      \
        Link<BYTES> link[CHAINS] = {link_of(0), link_of(1), link_of(2), link_of(3),                                \
                                    link_of(4), link_of(5), link_of(6), link_of(7)};                               \
        measure(rounds, schedulers, clocks, [&] {                                                                  \
            _Pragma("unroll")                                                                                      \
            for (int i = 0; i < OPS; ++i) link[i % CHAINS].follow();                                               \
        });                                                                                                        \
        for (int i = 0; i < CHAINS; ++i) sink[i] = link[i].used();                                                 \
    }                                                                                                              \
    extern "C" __global__ void __launch_bounds__(32)                                                               \
    chase_l1_##BYTES(int rounds, int schedulers, long long* clocks, unsigned* sink, unsigned long long links)      \
    {                                                                                                              \
        Link<BYTES> link(links + threadIdx.x * 16);                                                                \
        measure(rounds, schedulers, clocks, [&] {                                                                  \
            _Pragma("unroll")                                                                                      \
            for (int i = 0; i < OPS; ++i) link.follow();                                                           \
        });                                                                                                        \
        sink[threadIdx.x] = link.used();                                                                           \
    }

GLOBAL_KERNELS(4)
GLOBAL_KERNELS(8)
GLOBAL_KERNELS(16)

// One thread through a ring of addresses, past L1. What the ring fits into says whose latency it is: L2, or memory.
extern "C" __global__ void __launch_bounds__(32)
chase_l2(int rounds, int schedulers, long long* clocks, unsigned long long* sink, unsigned long long first)
{
    if (threadIdx.x != 0) return;
    unsigned long long address = first;
    measure(rounds, schedulers, clocks, [&] {
        #pragma unroll
        for (int i = 0; i < OPS; ++i)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(address));
    });
    *sink = address;
}

// ANCHOR: stream
constexpr int STREAM_THREADS = 1024;
constexpr int UNROLL = 8;

// `n` float4, a multiple of UNROLL for each thread, `rounds` times. The grid walks through them together; `share`
// blocks walk over the same ones.
extern "C" __global__ void __launch_bounds__(STREAM_THREADS)
stream_load(int rounds, int n, int share, const float4* in, float* out)
{
    const int first = blockIdx.x / share * STREAM_THREADS + threadIdx.x;
    const int stride = gridDim.x / share * STREAM_THREADS;
    float sum = 0.0f;
    for (int round = 0; round < rounds; ++round) {
        for (int i = first; i + (UNROLL - 1) * stride < n; i += UNROLL * stride) {
            float4 v[UNROLL];
            #pragma unroll
            for (int j = 0; j < UNROLL; ++j) v[j] = __ldcg(in + i + j * stride);
            #pragma unroll
            for (int j = 0; j < UNROLL; ++j) sum += v[j].x + v[j].y + v[j].z + v[j].w;
        }
    }
    if (sum < 0.0f) out[first] = sum;  // never, but the compiler cannot know
}

extern "C" __global__ void __launch_bounds__(STREAM_THREADS)
stream_store(int rounds, int n, float4* out)
{
    const int first = blockIdx.x * STREAM_THREADS + threadIdx.x;
    const int stride = gridDim.x * STREAM_THREADS;
    for (int round = 0; round < rounds; ++round) {
        const float value = static_cast<float>(round);
        for (int i = first; i < n; i += stride) out[i] = make_float4(value, value, value, value);
    }
}
// ANCHOR_END: stream

// Each lane a sector of its own, far from its neighbour's. `n` sectors, a power of two.
__device__ __forceinline__ unsigned scattered(unsigned i, unsigned n) { return i * 40503u & (n - 1); }

extern "C" __global__ void __launch_bounds__(STREAM_THREADS)
scattered_load(int rounds, int n, const float* in, float* out)
{
    const unsigned first = blockIdx.x * STREAM_THREADS + threadIdx.x;
    const unsigned stride = gridDim.x * STREAM_THREADS;
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) {
        #pragma unroll
        for (int j = 0; j < UNROLL; ++j) sum += __ldcg(in + 8ull * scattered(first + (i * UNROLL + j) * stride, n));
    }
    if (sum < 0.0f) out[first] = sum;
}

extern "C" __global__ void __launch_bounds__(STREAM_THREADS)
scattered_store(int rounds, int n, float* out)
{
    const unsigned first = blockIdx.x * STREAM_THREADS + threadIdx.x;
    const unsigned stride = gridDim.x * STREAM_THREADS;
    for (int i = 0; i < rounds; ++i) {
        #pragma unroll
        for (int j = 0; j < UNROLL; ++j)
            out[8ull * scattered(first + (i * UNROLL + j) * stride, n)] = static_cast<float>(i);
    }
}

extern "C" __global__ void __launch_bounds__(1024) empty() {}

// Each block takes so many clocks.
extern "C" __global__ void __launch_bounds__(1024) spin(int clocks)
{
    const long long start = clock64();
    while (clock64() - start < clocks) {}
}

// A word for each thread, once: blocks come and go.
extern "C" __global__ void __launch_bounds__(1024) touch(const float* in, float* out)
{
    const float value = __ldcg(in + blockIdx.x * 1024 + threadIdx.x);
    if (value < 0.0f) out[threadIdx.x] = value;  // never, but the compiler cannot know
}
