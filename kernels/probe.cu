// probe.cu: the two ceilings of a roofline, measured: multiply-adds from registers, bytes through memory.
//
// probe_fma:  FMAS_PER_ROUND multiply-adds per thread and round, in ACCUMULATORS independent chains, so that
//             the latency of one is hidden by the others. Nothing is loaded; nothing is stored, but the
//             compiler cannot know that. FLOP = 2 * FMAS_PER_ROUND * rounds * threads.
//             Launch: THREADS threads, 16 blocks per SM, rounds for some milliseconds, seed 0.5.
// probe_copy: out = in. Bytes moved = 2 * 16 * n_float4. Choose n several times the L2 cache.
//             Launch: THREADS threads, one block per THREADS float4. A thread goes on while there is more, so
//             any grid is right; but a few blocks that walk far were slower on an H200 than many short ones.

constexpr int THREADS = 256;
constexpr int ACCUMULATORS = 16;   // chains per thread: more than an FMA's latency in cycles
constexpr int STEPS = 32;          // steps of each chain per round: more, so that the loop itself costs little
constexpr int FMAS_PER_ROUND = ACCUMULATORS * STEPS;
static_assert(FMAS_PER_ROUND == 512, "the launcher counts with this");

// ANCHOR: fma
extern "C" __global__ void __launch_bounds__(THREADS)
probe_fma(int rounds, float seed, float* out)
{
    // acc -> acc * seed + (1 - seed) tends to 1 for a seed in 0 .. 1: no overflow, no denormals.
    const float addend = 1.0f - seed;
    float acc[ACCUMULATORS];
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) acc[i] = static_cast<float>(threadIdx.x + i);

    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            #pragma unroll
            for (int i = 0; i < ACCUMULATORS; ++i) acc[i] = acc[i] * seed + addend;
        }
    }

    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) sum += acc[i];
    if (sum < 0.0f) out[blockIdx.x * THREADS + threadIdx.x] = sum;  // never, but the compiler cannot know
}
// ANCHOR_END: fma

// ANCHOR: copy
extern "C" __global__ void __launch_bounds__(THREADS)
probe_copy(long long n_float4, const float4* in, float4* out)
{
    const long long first = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long stride = static_cast<long long>(gridDim.x) * THREADS;
    for (long long i = first; i < n_float4; i += stride) out[i] = in[i];
}
// ANCHOR_END: copy
