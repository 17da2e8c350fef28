// early_return_broken.cu: threads that return early no longer help to fill the tile.
//
// grid: 1
// block: 128
// arg: n i32 100
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: W-EXITED W-UNINIT

constexpr int BLOCK = 128;

extern "C" __global__ void reversed(int n, const float* x, float* y)
{
    __shared__ float tile[BLOCK];

    const int thread = threadIdx.x;
    if (thread >= n) return;
    tile[thread] = x[thread];
    __syncthreads();
    y[thread] = tile[BLOCK - 1 - thread];
}
