// undefined_neighbour_broken.cu: a stencil whose halo nobody loads, and whose values are copied before they are used.
//
// grid: 4
// block: 32
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: E-UNINIT

extern "C" __global__ void smooth(const float* x, float* y)
{
    __shared__ float raw[34];
    __shared__ float row[34];

    const int i = blockIdx.x * 32 + threadIdx.x;
    raw[threadIdx.x + 1] = x[i];
    __syncthreads();
    row[threadIdx.x] = raw[threadIdx.x];
    if (threadIdx.x < 2) row[threadIdx.x + 32] = raw[threadIdx.x + 32];
    __syncthreads();

    const float left = row[threadIdx.x];
    const float right = row[threadIdx.x + 2];
    const float middle = row[threadIdx.x + 1];
    const float sides = left
                      + right;
    y[i] = 0.5f * middle + 0.25f * sides;
}
