// constant_memory.cu: a polynomial whose coefficients all threads read.
constexpr int DEGREE = 3;

// ANCHOR: kernel
__constant__ float coefficients[DEGREE + 1];  // highest first; the host fills it

extern "C" __global__ void polynomial(int n, const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = 0.0f;
    for (int k = 0; k <= DEGREE; ++k) value = value * x[i] + coefficients[k];
    y[i] = value;
}
// ANCHOR_END: kernel
