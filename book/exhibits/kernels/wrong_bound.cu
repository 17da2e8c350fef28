// wrong_bound.cu: a museum piece. The bounds test has M and N the wrong way round.

// ANCHOR: kernel
extern "C" __global__ void wrong_bound(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= M) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
