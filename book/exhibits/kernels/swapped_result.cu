// swapped_result.cu: a museum piece. Every element is right, and stands where its mirror image belongs.

// ANCHOR: kernel
extern "C" __global__ void swapped_result(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[col * M + row] = acc;
}
// ANCHOR_END: kernel
