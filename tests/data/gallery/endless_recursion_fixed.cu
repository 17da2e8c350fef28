// endless_recursion_fixed.cu: an interval of one element is not divided further.
//
// block: 32
// arg: x f32[1024] filled
// arg: y f32[32] empty

__device__ __noinline__ float sum(const float* x, int from, int to)
{
    if (to - from == 1) return x[from];
    const int middle = (from + to) / 2;
    return sum(x, from, middle) + sum(x, middle, to);
}

extern "C" __global__ void sums(const float* x, float* y)
{
    y[threadIdx.x] = sum(x, 0, 32);
}
