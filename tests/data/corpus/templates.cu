// templates.cu: one template, several kernels.

template <typename T, int WIDTH>
struct Chunk {
    T value[WIDTH];
};

template <typename T, int WIDTH, typename F>
__device__ void each(int n, const T* in, T* out, F f)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    if (i + WIDTH > n) return;
    Chunk<T, WIDTH> chunk;
    #pragma unroll
    for (int k = 0; k < WIDTH; ++k) chunk.value[k] = f(in[i + k], k);
    #pragma unroll
    for (int k = 0; k < WIDTH; ++k) out[i + k] = chunk.value[k];
}

extern "C" __global__ void each_float(int n, const float* in, float* out)
{
    each<float, 4>(n, in, out, [](float v, int k) { return v * (k + 1); });
}

extern "C" __global__ void each_short(int n, const short* in, short* out)
{
    each<short, 2>(n, in, out, [](short v, int k) { return (short)(v << k); });
}

extern "C" __global__ void each_double(int n, const double* in, double* out)
{
    each<double, 1>(n, in, out, [](double v, int) { return v * v; });
}

template <typename T>
__global__ void fill(T* out, T value)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
template __global__ void fill<int>(int*, int);
template __global__ void fill<float>(float*, float);
