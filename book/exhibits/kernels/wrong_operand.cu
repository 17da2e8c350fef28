// wrong_operand.cu: a museum piece. C = A * B, with A where B belongs.
// ANCHOR: kernel
extern "C" __global__ void wrong_operand(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * A[k * N + col];
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
