// shuffle_beyond_mask_fixed.cu: all lanes take part in the shuffle, and none reads from beyond the mask.
//
// block: 32
// arg: n i32 20
// arg: x i32[20] filled
// arg: y i32[20] empty
// expect: clean

extern "C" __global__ void shift(int n, const int* x, int* y)
{
    const int lane = threadIdx.x;
    const int next = __shfl_down_sync(0xffffffff, lane < n ? x[lane] : 0, 1);
    if (lane < n) {
        y[lane] = lane + 1 < n ? next : 0;
    }
}
