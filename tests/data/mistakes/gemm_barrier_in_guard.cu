// gemm_barrier_in_guard.cu: the barrier stands inside the guard of the edge.
//
// grid: 2 2
// block: 16 16
// arg: M i32 24
// arg: N i32 24
// arg: K i32 32
// arg: A f32[768] filled
// arg: B f32[768] filled
// arg: C f32[576] empty

#define TILE 16
extern "C" __global__ void gemm(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float As[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += TILE) {
        if (row < M) {
            As[ty][tx] = A[row * K + t + tx];
            __syncthreads();  // inside
        }
        for (int k = 0; k < TILE; ++k)
            if (row < M && col < N) sum += As[ty][k] * B[(t + k) * N + col];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
