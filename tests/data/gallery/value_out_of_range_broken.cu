// value_out_of_range_broken.cu: a value of the data is used as an index, and some values are larger than the array.
//
// grid: 2
// block: 32
// arg: n i32 64
// arg: in i32[64] filled
// arg: bins i32[32] zero
// expect: E-OOB

constexpr int BINS = 32;

extern "C" __global__ void histogram(int n, const int* in, int* bins)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[in[i]], 1);
    }
}
