// A polynomial of degree n - 1 at P points of each thread.
#define P 48
extern "C" __global__ void poly(int n, const float* c, const float* x, float* y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[P], acc[P];
#pragma unroll
    for (int i = 0; i < P; ++i) { v[i] = x[i * all + at]; acc[i] = 0; }
#pragma unroll 1
    for (int k = 0; k < n; ++k) {
        float h = c[k];
#pragma unroll
        for (int i = 0; i < P; ++i) acc[i] = acc[i] * v[i] + h;
    }
#pragma unroll
    for (int i = 0; i < P; ++i) y[i * all + at] = acc[i];
}
