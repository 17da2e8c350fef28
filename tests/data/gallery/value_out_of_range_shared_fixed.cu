// value_out_of_range_shared_fixed.cu: values without a bin are left out.
//
// grid: 2
// block: 32
// arg: n i32 64
// arg: in i32[64] filled
// arg: bins i32[32] zero
// expect: clean

constexpr int BINS = 32;

extern "C" __global__ void histogram(int n, const int* in, int* bins)
{
    __shared__ int mine[BINS];
    mine[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int bin = in[i];
        if (bin < BINS) atomicAdd(&mine[bin], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
