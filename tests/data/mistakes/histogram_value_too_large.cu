// histogram_value_too_large.cu: values up to 255 for 64 bins.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in i32[256] filled
// arg: bins i32[64] zero

extern "C" __global__ void histogram(int n, const int* in, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int bin = in[i];
        atomicAdd(&bins[bin], 1);
    }
}
