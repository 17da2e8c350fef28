// loose_tolerance.cu: a museum piece. The sum stops one term early.

// ANCHOR: kernel
extern "C" __global__ void loose_tolerance(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K - 1; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
