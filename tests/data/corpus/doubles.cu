// doubles.cu: double precision.

extern "C" __global__ void polynomial(int n, const double* x, double* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double v = x[i];
    double sum = 0.125;
    for (int k = 1; k < 6; ++k) sum = fma(sum, v, 1.0 / k);
    y[5 * i + 0] = sum;
    y[5 * i + 1] = sqrt(fabs(v));
    y[5 * i + 2] = (v - 3.0) / (v + 1e-3);
    y[5 * i + 3] = fmin(v, 0.5) + fmax(v, -0.5);
    y[5 * i + 4] = (double)(long long)v + (double)(float)v + rint(v) + floor(v) + ceil(v) + trunc(v);
}
