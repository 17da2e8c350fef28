// gemm_no_guard.cu: the guard is missing, and the matrix is no multiple of the block.
//
// grid: 4 4
// block: 16 16
// arg: N i32 50
// arg: A f32[2500] filled
// arg: B f32[2500] filled
// arg: C f32[2500] empty

extern "C" __global__ void gemm(int N, const float* A, const float* B, float* C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float acc = 0.0f;
    for (int k = 0; k < N; k++) {
        acc += A[row * N + k] * B[k * N + col];
    }
    C[row * N + col] = acc;
}
