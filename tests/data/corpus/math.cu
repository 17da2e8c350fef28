// math.cu: the math library, exact operations with all roundings, and fast intrinsics.

extern "C" __global__ void single(int n, const float* x, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    float* o = &out[16 * i];
    o[0] = expf(v);
    o[1] = logf(fabsf(v));
    o[2] = sinf(v);
    o[3] = cosf(v);
    o[4] = powf(fabsf(v), 1.7f);
    o[5] = sqrtf(fabsf(v));
    o[6] = tanhf(v);
    o[7] = 1.0f / v;
    o[8] = rsqrtf(fabsf(v));
    o[9] = atan2f(v, 0.7f);
    o[10] = exp2f(v);
    o[11] = log2f(fabsf(v));
    o[12] = erff(v);
    o[13] = cbrtf(v);
    o[14] = fmodf(v, 0.3f);
    o[15] = roundf(v) + floorf(v) * 100.0f + truncf(v) * 10000.0f;
}

extern "C" __global__ void wide(int n, const double* x, double* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double v = x[i];
    out[6 * i + 0] = exp(v);
    out[6 * i + 1] = log(fabs(v));
    out[6 * i + 2] = sin(v);
    out[6 * i + 3] = pow(fabs(v), 1.7);
    out[6 * i + 4] = 1.0 / sqrt(fabs(v));
    out[6 * i + 5] = atan(v);
}

extern "C" __global__ void fast(int n, const float* x, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = fabsf(x[i]);
    float* o = &out[8 * i];
    o[0] = __expf(v);
    o[1] = __logf(v);
    o[2] = __sinf(v);
    o[3] = __cosf(v);
    o[4] = __fdividef(1.0f, v);
    o[5] = __powf(v, 0.5f);
    o[6] = __saturatef(v);
    o[7] = __fadd_rz(v, 0.1f) + __fmul_ru(v, 0.1f) + __fmaf_rd(v, v, 0.1f);
}
