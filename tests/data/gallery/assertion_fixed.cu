// assertion_fixed.cu: every index is brought into range first.
//
// grid: 1
// block: 64
// arg: n i32 50
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

extern "C" __global__ void gather(int n, const int* x, int* y)
{
    const int from = x[threadIdx.x] % n;
    assert(from < n);
    y[threadIdx.x] = x[from];
}
