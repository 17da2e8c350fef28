// gemm_pointer_walk.cu: a pointer that walks down a column goes one row too far.
//
// grid: 1
// block: 32
// arg: N i32 32
// arg: A f32[1024] filled
// arg: x f32[33] filled
// arg: y f32[32] empty

extern "C" __global__ void gemv(int N, const float* A, const float* x, float* y)
{
    int row = threadIdx.x;
    const float* a = A + row * N;
    float sum = 0.0f;
    for (int k = 0; k <= N; ++k) {
        sum += *a++ * x[k];
    }
    y[row] = sum;
}
