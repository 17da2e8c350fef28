// specialised_warps.cu: one warp feeds three through two buffers; their loops have different lengths, and counted
// barriers keep them apart.
//
// block: 128
// arg: n i32 6
// arg: x i32[192] filled
// arg: y i32[96] empty
// gives: y 0 480
// gives: y 95 666

__device__ __forceinline__ void wait(int id) { asm volatile("barrier.sync %0, 128;" ::"r"(id) : "memory"); }
__device__ __forceinline__ void arrive(int id) { asm volatile("barrier.arrive %0, 128;" ::"r"(id) : "memory"); }

extern "C" __global__ void feed(int n, const int* x, int* y)
{
    __shared__ int buffer[2][32];
    constexpr int FULL = 1, EMPTY = 3;

    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < n; ++k) {
            if (k >= 2) wait(EMPTY + k % 2);
            buffer[k % 2][lane] = x[32 * k + lane];
            arrive(FULL + k % 2);
        }
    } else {
        int sum = 0;
        for (int k = 0; k < n; ++k) {
            wait(FULL + k % 2);
            sum += buffer[k % 2][lane];
            if (k + 2 < n) arrive(EMPTY + k % 2);
        }
        y[threadIdx.x - 32] = sum;
    }
}
