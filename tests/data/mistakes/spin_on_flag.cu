// spin_on_flag.cu: blocks wait for a flag that is set after the waiting.
//
// grid: 2
// block: 32
// budget: 5000000
// arg: flag i32[1] zero
// arg: out i32[64] empty

extern "C" __global__ void wait_and_go(int* flag, int* out)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) != 2) { }
        atomicAdd(flag, 1);
    }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
