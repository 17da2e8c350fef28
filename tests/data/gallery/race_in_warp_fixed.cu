// race_in_warp_fixed.cu: the lanes wait for each other.
//
// grid: 1
// block: 32
// arg: x i32[32] filled
// arg: y i32[32] empty
// expect: clean

extern "C" __global__ void swap_pairs(const int* x, int* y)
{
    __shared__ int box[32];

    const int lane = threadIdx.x;
    box[lane] = x[lane];
    __syncwarp();
    y[lane] = box[lane ^ 1];
}
