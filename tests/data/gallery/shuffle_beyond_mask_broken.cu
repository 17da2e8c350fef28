// shuffle_beyond_mask_broken.cu: lanes at the end of the mask shuffle a value from beyond it, and throw it away.
//
// block: 32
// arg: n i32 20
// arg: x i32[20] filled
// arg: y i32[20] empty
// expect: W-SHUFFLE

extern "C" __global__ void shift(int n, const int* x, int* y)
{
    const int lane = threadIdx.x;
    const unsigned mask = __ballot_sync(0xffffffff, lane < n);
    if (lane < n) {
        const int next = __shfl_down_sync(mask, x[lane], 1);
        y[lane] = lane + 1 < n ? next : 0;
    }
}
