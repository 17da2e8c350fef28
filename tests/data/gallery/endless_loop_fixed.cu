// endless_loop_fixed.cu: the step is one.
//
// grid: 1
// block: 32
// budget: 2000000
// arg: K i32 256
// arg: step i32 1
// arg: A f32[8192] filled
// arg: y f32[32] empty
// expect: clean

extern "C" __global__ void row_sum(int K, int step, const float* A, float* y)
{
    const int row = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += step) {
        sum += A[row * K + k];
    }
    y[row] = sum;
}
