// gemm_half_tile.cu: half of the threads fill half of the tile, all of it is read.
//
// grid: 4 4
// block: 16 16
// arg: M i32 64
// arg: N i32 64
// arg: K i32 64
// arg: A f32[4096] filled
// arg: B f32[4096] filled
// arg: C f32[4096] empty

#define TILE 16
extern "C" __global__ void gemm(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float As[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += TILE) {
        if (ty < 8) As[ty][tx] = A[row * K + t + tx];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * B[(t + k) * N + col];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
