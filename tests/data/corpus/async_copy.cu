// async_copy.cu: a pipeline of two tiles, filled by cp.async while the other is summed.
// arch: compute_80
#include <cuda_pipeline.h>

constexpr int BLOCK = 128;

extern "C" __global__ void pipeline(int tiles, const float* in, float* out)
{
    __shared__ __align__(16) float tile[2][BLOCK * 4];
    const int thread = threadIdx.x;
    const auto fetch = [&](int t) {
        __pipeline_memcpy_async(&tile[t % 2][thread * 4], &in[(t * BLOCK + thread) * 4], 16);
        __pipeline_commit();
    };
    fetch(0);
    float sum = 0.0f;
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) {
            fetch(t + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();  // everybody's part of the tile is there -> reads may start
        for (int i = 0; i < 4; ++i) sum += tile[t % 2][(thread + i * 33) % (BLOCK * 4)];
        __syncthreads();  // reads done -> the next fetch may overwrite
    }
    out[thread] = sum;
}
