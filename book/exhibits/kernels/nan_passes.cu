// nan_passes.cu: a museum piece. alpha * A * B + beta * C with beta = 0 still reads C, and 0 * NaN is NaN.
constexpr float ALPHA = 1.0f;
constexpr float BETA = 0.0f;

// ANCHOR: kernel
extern "C" __global__ void nan_passes(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = ALPHA * acc + BETA * C[row * N + col];
}
// ANCHOR_END: kernel
