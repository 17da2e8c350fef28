// two_arms.cu: half of the block loads while the other half computes; both meet at barrier 0, from two places.
//
// block: 64
// arg: n i32 4
// arg: x i32[128] filled
// arg: y i32[32] empty
// gives: y 0 192
// gives: y 31 316

extern "C" __global__ void load_and_add(int n, const int* x, int* y)
{
    __shared__ int buffer[2][32];

    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < n; ++k) {
            buffer[k % 2][lane] = x[32 * k + lane];
            asm volatile("barrier.sync 0;" ::: "memory");
        }
    } else {
        int sum = 0;
        for (int k = 0; k < n; ++k) {
            asm volatile("barrier.sync 0;" ::: "memory");
            sum += buffer[k % 2][lane];
        }
        y[lane] = sum;
    }
}
