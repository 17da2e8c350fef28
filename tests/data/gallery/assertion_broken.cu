// assertion_broken.cu: an assertion of the kernel does not hold.
//
// grid: 1
// block: 64
// arg: n i32 50
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: E-ASSERT

extern "C" __global__ void gather(int n, const int* x, int* y)
{
    const int from = x[threadIdx.x];
    assert(from < n);
    y[threadIdx.x] = x[from];
}
