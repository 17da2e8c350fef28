// gemm_accumulates_into_empty.cu: C is added to, and nobody has set it to 0.
//
// grid: 2 2
// block: 16 16
// arg: N i32 32
// arg: A f32[1024] filled
// arg: B f32[1024] filled
// arg: C f32[1024] empty

extern "C" __global__ void gemm(int N, const float* A, const float* B, float* C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < N; k++)
        C[row * N + col] += A[row * N + k] * B[k * N + col];
}
