// gemm_rectangular_pitch.cu: rows of A are as long as K, and are taken to be as long as N.
//
// grid: 2 2
// block: 16 16
// arg: M i32 32
// arg: N i32 32
// arg: K i32 20
// arg: A f32[640] filled
// arg: B f32[640] filled
// arg: C f32[1024] empty

extern "C" __global__ void gemm(int M, int N, int K, const float* A, const float* B, float* C)
{
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k) {
            acc += A[row * N + k] * B[k * N + col];
        }
        C[row * N + col] = acc;
    }
}
