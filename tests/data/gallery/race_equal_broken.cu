// race_equal_broken.cu: all threads that found something write the same 1.
//
// grid: 1
// block: 128
// arg: x i32[128] filled
// arg: found i32[1] empty
// expect: W-RACE-EQUAL

extern "C" __global__ void any_multiple_of_three(const int* x, int* found)
{
    __shared__ int flag;

    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (x[threadIdx.x] % 3 == 0) flag = 1;
    __syncthreads();
    if (threadIdx.x == 0) *found = flag;
}
