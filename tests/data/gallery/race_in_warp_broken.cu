// race_in_warp_broken.cu: lanes of one warp trade values through shared memory, and nothing orders them.
//
// grid: 1
// block: 32
// arg: x i32[32] filled
// arg: y i32[32] empty
// expect: E-RACE

extern "C" __global__ void swap_pairs(const int* x, int* y)
{
    __shared__ int box[32];

    const int lane = threadIdx.x;
    box[lane] = x[lane];
    y[lane] = box[lane ^ 1];
}
