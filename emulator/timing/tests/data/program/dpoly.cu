// A polynomial of degree n - 1 at P points of each thread, in double precision, with its derivative.
#define P 16
extern "C" __global__ void dpoly(int n, const double* c, const double* x, double* y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    double v[P], acc[P], der[P];
#pragma unroll
    for (int i = 0; i < P; ++i) { v[i] = x[i * all + at]; acc[i] = 0; der[i] = 0; }
#pragma unroll 1
    for (int k = 0; k < n; ++k) {
        double h = c[k];
#pragma unroll
        for (int i = 0; i < P; ++i) { der[i] = der[i] * v[i] + acc[i]; acc[i] = acc[i] * v[i] + h; }
    }
#pragma unroll
    for (int i = 0; i < P; ++i) y[i * all + at] = acc[i] * der[i];
}
