// undefined_printed_broken.cu: prints a partial result of a thread that has none.
//
// grid: 1
// block: 32
// arg: x f32[32] filled
// expect: E-UNINIT

extern "C" __global__ void show(const float* x)
{
    __shared__ float partial[32];

    if (threadIdx.x % 2 == 0) partial[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + 1];
    __syncthreads();

    if (threadIdx.x == 0) printf("%d: %d\n", 5, __float_as_int(partial[5]));
}
