// race_in_place_broken.cu: a stencil overwrites its own input while other blocks read it.
//
// grid: 4
// block: 128
// arg: n i32 512
// arg: x f32[512] filled
// arg: y f32[512] filled
// expect: E-RACE

extern "C" __global__ void blur(int n, float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        const float mean = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
        x[i] = mean;
    }
}
