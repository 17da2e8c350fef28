// grid_barrier.cu: a barrier of all blocks, made of an atomic counter and fences.
//
// grid: 4
// block: 64
// arg: y i32[256] empty
// arg: z i32[256] empty
// arg: arrived i32[1] zero
// gives: z 0 255
// gives: z 255 0

extern "C" __global__ void turn_round(int* y, int* z, unsigned* arrived)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    z[i] = y[255 - i];
}
