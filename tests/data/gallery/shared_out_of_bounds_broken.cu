// shared_out_of_bounds_broken.cu: a tile with two neighbours needs two more elements than threads.
//
// grid: 4
// block: 128
// arg: n i32 512
// arg: x f32[512] filled
// arg: y f32[512] empty
// expect: E-OOB

constexpr int BLOCK = 128;

extern "C" __global__ void smooth(int n, const float* x, float* y)
{
    __shared__ float tile[BLOCK];

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x + 1] = x[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : x[i];
    if (threadIdx.x == BLOCK - 1) tile[BLOCK + 1] = i + 1 < n ? x[i + 1] : x[i];
    __syncthreads();

    y[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3.0f;
}
