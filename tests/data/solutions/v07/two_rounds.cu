// Two rounds written one after the other, with a buffer of its own for each.
#include "common.cuh"
constexpr int BM = 128, BN = 128, BK = 8, PAD = 4;

struct Tiles {
    float a[BK][BM + PAD], b[BK][BN];
};

__device__ __forceinline__ void put(Tiles& tiles, int t, float4 a, float4 b)
{
    float* to = &tiles.a[t % 2 * 4][t / 2];
    to[0 * (BM + PAD)] = a.x;
    to[1 * (BM + PAD)] = a.y;
    to[2 * (BM + PAD)] = a.z;
    to[3 * (BM + PAD)] = a.w;
    store4(&tiles.b[t / 32][t % 32 * 4], b);
}

__device__ __forceinline__ void multiply(float (&acc)[8][8], const Tiles& tiles, int row, int col)
{
    #pragma unroll
    for (int k = 0; k < BK; ++k) {
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            #pragma unroll
            for (int j = 0; j < 8; ++j) acc[i][j] += tiles.a[k][row + i] * tiles.b[k][col + j % 4 + j / 4 * 64];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
sgemm_v07_double_buffer(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) Tiles even, odd;
    const int t = threadIdx.x, block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int row = t / 16 * 8, col = t % 16 * 4;
    float acc[8][8] = {};
    float4 a = load4_or_zero(A, M, K, block_row + t / 2, t % 2 * 4);
    float4 b = load4_or_zero(B, K, N, t / 32, block_col + t % 32 * 4);
    for (int k0 = 0; k0 < K; k0 += 2 * BK) {
        put(even, t, a, b);
        __syncthreads();
        a = load4_or_zero(A, M, K, block_row + t / 2, k0 + BK + t % 2 * 4);
        b = load4_or_zero(B, K, N, k0 + BK + t / 32, block_col + t % 32 * 4);
        multiply(acc, even, row, col);
        put(odd, t, a, b);
        __syncthreads();
        a = load4_or_zero(A, M, K, block_row + t / 2, k0 + 2 * BK + t % 2 * 4);
        b = load4_or_zero(B, K, N, k0 + 2 * BK + t / 32, block_col + t % 32 * 4);
        multiply(acc, odd, row, col);
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) {
        store_if_inside(C, M, N, block_row + row + i / 8, block_col + col + i % 4 + i % 8 / 4 * 64, acc[i / 8][i % 8]);
    }
}
