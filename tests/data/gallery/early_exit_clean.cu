// early_exit_clean.cu: part of a warp returns before a barrier and has nothing to do after it, which is allowed.
//
// block: 64
// arg: n i32 40
// arg: x f32[40] filled
// arg: y f32[40] empty
// expect: clean

extern "C" __global__ void reverse(int n, const float* x, float* y)
{
    __shared__ float tile[64];

    const int thread = threadIdx.x;
    if (thread >= n) return;
    tile[thread] = x[thread];
    __syncthreads();
    y[thread] = tile[n - 1 - thread];
}
