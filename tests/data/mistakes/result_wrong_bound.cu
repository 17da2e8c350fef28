// result_wrong_bound.cu: a wrong result without a wrong access: the last column is left out.
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
    float acc = 0.0f;
    for (int k = 0; k < N - 1; k++)
        acc += A[row * N + k] * B[k * N + col];
    C[row * N + col] = acc;
}
