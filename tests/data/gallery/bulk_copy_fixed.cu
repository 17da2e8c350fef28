// bulk_copy_fixed.cu: all threads wait for the phase that ends when the bytes have come.
//
// arch: compute_90
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

#include "mbarrier.cuh"

extern "C" __global__ void reverse(const int* x, int* y)
{
    alignas(16) __shared__ int tile[64];
    __shared__ unsigned long long full;

    const int t = threadIdx.x;
    if (t == 0) {
        init(&full, 1);
        fence_init();
        arrive_and_expect(&full, sizeof tile);
        copy(tile, x, sizeof tile, &full);
    }
    __syncthreads();
    wait(&full, 0);
    y[t] = tile[63 - t];
}
