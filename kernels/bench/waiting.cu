// waiting.cu: the same work by few warps and by many, for the book's page on waiting and hiding.
//
// Launch: one block for each multiprocessor, of as many warps as are to be tried.

constexpr int FMAS = 64;  // multiply-adds of a thread in one round

// ANCHOR: sums
// Each multiply-add needs the one before it in its sum, and none of the other sums.
template <int SUMS>
__device__ __forceinline__ void add_up(int rounds, const float* in, float* out)
{
    const float x = in[threadIdx.x];
    float sum[SUMS];
    for (int s = 0; s < SUMS; ++s) sum[s] = s;
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int step = 0; step < FMAS / SUMS; ++step) {
            #pragma unroll
            for (int s = 0; s < SUMS; ++s) sum[s] = sum[s] * x + x;
        }
    }
    // ANCHOR_END: sums
    float total = 0.0f;
    for (int s = 0; s < SUMS; ++s) total += sum[s];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

constexpr int PART = 1 << 16;  // floats that a block walks over, again and again

// ANCHOR: loads
// The loads of a round need nothing of each other; the next round begins when all of them have come.
template <int LOADS>
__device__ __forceinline__ void walk(int rounds, const float* in, float* out)
{
    const float* part = in + blockIdx.x * PART;
    float sum = 0.0f;
    #pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        const int first = round * LOADS * blockDim.x + threadIdx.x;
        float v[LOADS];
        #pragma unroll
        for (int l = 0; l < LOADS; ++l) v[l] = __ldcg(&part[(first + l * blockDim.x) % PART]);  // past L1
        #pragma unroll
        for (int l = 0; l < LOADS; ++l) sum += v[l];
    }
    // ANCHOR_END: loads
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void one_sum(int rounds, const float* in, float* out) { add_up<1>(rounds, in, out); }
extern "C" __global__ void four_sums(int rounds, const float* in, float* out) { add_up<4>(rounds, in, out); }
extern "C" __global__ void one_load(int rounds, const float* in, float* out) { walk<1>(rounds, in, out); }
extern "C" __global__ void four_loads(int rounds, const float* in, float* out) { walk<4>(rounds, in, out); }
