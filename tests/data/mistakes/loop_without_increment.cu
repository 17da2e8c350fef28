// loop_without_increment.cu: the loop over the elements forgets to go on.
//
// grid: 2
// block: 64
// budget: 3000000
// arg: n i32 1000
// arg: x f32[1000] filled
// arg: sum f32[1] zero

extern "C" __global__ void sum_all(int n, const float* x, float* sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        atomicAdd(sum, x[i]);
    }
}
