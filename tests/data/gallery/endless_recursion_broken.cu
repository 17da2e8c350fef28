// endless_recursion_broken.cu: the recursion never reaches its end, because the interval does not become smaller.
//
// block: 32
// arg: x f32[1024] filled
// arg: y f32[32] empty
// expect: E-STACK

__device__ __noinline__ float sum(const float* x, int from, int to)
{
    if (from == to) return x[from];
    const int middle = (from + to) / 2;
    return sum(x, from, middle) + sum(x, middle, to);
}

extern "C" __global__ void sums(const float* x, float* y)
{
    y[threadIdx.x] = sum(x, 0, 32);
}
