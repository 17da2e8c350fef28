// failed_launch.cu: a museum piece. A good kernel, compiled for 16 x 16 threads.
constexpr int BLOCK = 16;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
failed_launch(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
