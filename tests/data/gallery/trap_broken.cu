// trap_broken.cu: the kernel meets a case that must not happen.
//
// grid: 1
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: E-TRAP

extern "C" __global__ void reciprocal(const int* x, int* y)
{
    const int divisor = x[threadIdx.x];
    if (divisor == 0) __trap();
    y[threadIdx.x] = 1000 / divisor;
}
