// trap_fixed.cu: no divisor is zero.
//
// grid: 1
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

extern "C" __global__ void reciprocal(const int* x, int* y)
{
    const int divisor = x[threadIdx.x] + 1;
    if (divisor == 0) __trap();
    y[threadIdx.x] = 1000 / divisor;
}
