// gemm_split_k_plain_add.cu: two blocks add to the same element of C without an atomic.
//
// grid: 2 2 2
// block: 16 16
// arg: N i32 32
// arg: A f32[1024] filled
// arg: B f32[1024] filled
// arg: C f32[1024] zero

extern "C" __global__ void gemm(int N, const float* A, const float* B, float* C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int half = N / 2;
    float sum = 0.0f;
    for (int k = blockIdx.z * half; k < (blockIdx.z + 1) * half; k++)
        sum += A[row * N + k] * B[k * N + col];
    C[row * N + col] += sum;
}
