// past_the_row_broken.cu: K is no multiple of the tile, and the last tile reaches past the end of each row.
//
// grid: 1 2
// block: 16 16
// arg: M i32 32
// arg: K i32 40
// arg: A f32[1280] filled
// arg: sums f32[32] empty
// expect: E-OOB

constexpr int TILE = 16;

extern "C" __global__ void row_sums(int M, int K, const float* A, float* sums)
{
    __shared__ float a_tile[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[row] = sum;
}
