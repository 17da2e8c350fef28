// lucky_race.cu: a museum piece. y[i] = x[i] - x[i - 1] through shared memory, with a barrier missing.
constexpr int BLOCK = 256;

// ANCHOR: kernel
extern "C" __global__ void lucky_race(int n, const float* x, float* y)
{
    __shared__ float tile[BLOCK];
    const int thread = threadIdx.x;
    const int i = blockIdx.x * BLOCK + thread;
    tile[thread] = i < n ? x[i] : 0.0f;

    const float left = thread > 0 ? tile[thread - 1] : (i > 0 && i < n ? x[i - 1] : 0.0f);
    if (i < n) y[i] = tile[thread] - left;
}
// ANCHOR_END: kernel
