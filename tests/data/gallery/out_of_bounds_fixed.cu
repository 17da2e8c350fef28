// out_of_bounds_fixed.cu: threads outside of the matrix do nothing.
//
// grid: 7 7
// block: 16 16
// arg: M i32 100
// arg: N i32 100
// arg: K i32 100
// arg: A f32[10000] filled
// arg: B f32[10000] filled
// arg: C f32[10000] empty
// expect: clean

constexpr int BLOCK = 16;

extern "C" __global__ void matmul(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = acc;
}
