// out_of_bounds_broken.cu: the grid covers more elements than the matrix has, and no guard says so.
//
// grid: 7 7
// block: 16 16
// arg: M i32 100
// arg: N i32 100
// arg: K i32 100
// arg: A f32[10000] filled
// arg: B f32[10000] filled
// arg: C f32[10000] empty
// expect: E-OOB

constexpr int BLOCK = 16;

extern "C" __global__ void matmul(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = acc;
}
