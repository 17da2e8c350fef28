// A thread's columns come as four pairs, so that fragments of B are filled by 64-bit loads.
#include "common.cuh"
constexpr int BM = 128, BN = 128, BK = 8, PAD = 4;

extern "C" __global__ void __launch_bounds__(256, 2)
sgemm_v06_outer_product(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD], b_tile[BK][BN];
    const int t = threadIdx.x, block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int row = t / 16 * 8, col = t % 16 * 2;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 a = load4_or_zero(A, M, K, block_row + t / 2, k0 + t % 2 * 4);
        a_tile[t % 2 * 4 + 0][t / 2] = a.x;
        a_tile[t % 2 * 4 + 1][t / 2] = a.y;
        a_tile[t % 2 * 4 + 2][t / 2] = a.z;
        a_tile[t % 2 * 4 + 3][t / 2] = a.w;
        store4(&b_tile[t / 32][t % 32 * 4], load4_or_zero(B, K, N, k0 + t / 32, block_col + t % 32 * 4));
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float2 b[4];
            #pragma unroll
            for (int j = 0; j < 4; ++j) b[j] = *reinterpret_cast<const float2*>(&b_tile[k][col + 32 * j]);
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                #pragma unroll
                for (int j = 0; j < 4; ++j) {
                    acc[i][2 * j] += a_tile[k][row + i] * b[j].x;
                    acc[i][2 * j + 1] += a_tile[k][row + i] * b[j].y;
                }
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            store_if_inside(C, M, N, block_row + row + i, block_col + col + j % 2 + j / 2 * 32, acc[i][j]);
        }
    }
}
