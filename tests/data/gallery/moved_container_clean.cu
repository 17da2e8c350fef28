// moved_container_clean.cu: a vector with room for eight, partly filled, returned by value and copied.
//
// grid: 2
// block: 32
// arg: x i32[64] filled
// arg: y i32[64] empty
// arg: out i32[1024] empty
// expect: clean

template <int ROOM>
struct Few {
    int n = 0;
    int items[ROOM];

    __device__ void push(int item) { items[n++] = item; }
};

__device__ __noinline__ Few<8> divisors(int of)
{
    Few<8> found;
    for (int d = 2; d < 32; ++d)
        if (of % d == 0 && found.n < 8) found.push(d);
    return found;
}

extern "C" __global__ void sums(const int* x, int* y, Few<8>* out)
{
    __shared__ Few<8> all[32];

    const int i = blockIdx.x * 32 + threadIdx.x;
    all[threadIdx.x] = divisors(x[i]);
    __syncthreads();

    const Few<8> other = all[31 - threadIdx.x];
    int sum = 0;
#pragma unroll
    for (int at = 0; at < 8; ++at) sum += at < other.n ? other.items[at] : 0;
    y[i] = sum;
    out[i] = other;
}
