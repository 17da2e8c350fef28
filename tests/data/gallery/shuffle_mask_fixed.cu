// shuffle_mask_fixed.cu: all lanes take part, some with nothing to add.
//
// grid: 1
// block: 32
// arg: n i32 20
// arg: x f32[32] filled
// arg: y f32[32] empty
// expect: clean

extern "C" __global__ void warp_sum(int n, const float* x, float* y)
{
    const int lane = threadIdx.x;
    float sum = lane < n ? x[lane] : 0.0f;
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
    if (lane < n) y[lane] = sum;
}
