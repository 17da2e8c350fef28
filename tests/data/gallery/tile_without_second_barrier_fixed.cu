// tile_without_second_barrier_fixed.cu: a barrier ends each round.
//
// grid: 2 2
// block: 16 16
// arg: N i32 32
// arg: A f32[1024] filled
// arg: B f32[1024] filled
// arg: C f32[1024] empty
// expect: clean

constexpr int BLOCK = 16;

extern "C" __global__ void multiply(int N, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];

    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < N; k0 += BLOCK) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * N + k0 + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();

        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[threadIdx.y][k]
                 * b_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    C[row * N + col] = acc;
}
