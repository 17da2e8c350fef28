// shuffle_mask_broken.cu: the mask names all lanes, but a dozen of them never come.
//
// grid: 1
// block: 32
// arg: n i32 20
// arg: x f32[32] filled
// arg: y f32[32] empty
// expect: E-SYNC-MASK

extern "C" __global__ void warp_sum(int n, const float* x, float* y)
{
    const int lane = threadIdx.x;
    if (lane < n) {
        float sum = x[lane];
        for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
        y[lane] = sum;
    }
}
