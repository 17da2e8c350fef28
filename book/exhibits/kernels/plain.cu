// plain.cu: C = A * B with nothing wrong: for exhibits whose mistake is in the host's program.

// ANCHOR: kernel
extern "C" __global__ void plain(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
