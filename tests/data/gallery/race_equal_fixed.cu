// race_equal_fixed.cu: the flag is set with an atomic.
//
// grid: 1
// block: 128
// arg: x i32[128] filled
// arg: found i32[1] empty
// expect: clean

extern "C" __global__ void any_multiple_of_three(const int* x, int* found)
{
    __shared__ int flag;

    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (x[threadIdx.x] % 3 == 0) atomicExch(&flag, 1);
    __syncthreads();
    if (threadIdx.x == 0) *found = flag;
}
