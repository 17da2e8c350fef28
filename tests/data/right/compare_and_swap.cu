// compare_and_swap.cu: an addition and a maximum made of compare-and-swap, as the CUDA C++ Programming Guide makes
// them: the first load is an ordinary one.
//
// grid: 4
// block: 64
// arg: x f32[256] filled
// arg: sum f32[2] zero
// arg: most f32[1] zero
// gives: sum 0 1140
// gives: most 0 9

__device__ void add(double* address, double value)
{
    unsigned long long* bits = (unsigned long long*)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
}

__device__ void add(float* address, float value)
{
    int* bits = (int*)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value + __int_as_float(assumed)));
    } while (assumed != old);
}

__device__ void raise(float* address, float value)
{
    int old = __float_as_int(*address);
    while (value > __int_as_float(old)) {
        const int assumed = old;
        old = atomicCAS((int*)address, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
}

extern "C" __global__ void gather(const float* x, float* sum, float* most)
{
    __shared__ double here;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    add(&here, x[blockIdx.x * 64 + threadIdx.x]);
    raise(most, x[blockIdx.x * 64 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) add(sum, (float)here);
}
