// Each warp owns 16 rows and all 128 columns; 32 neighbouring lanes, 32 neighbouring columns, 4 times.
#include "common.cuh"
constexpr int EDGE = 128, DEPTH = 8;

extern "C" __global__ void __launch_bounds__(256)
sgemm_v05_bank_conflict_free(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[EDGE][DEPTH], b_tile[DEPTH][EDGE];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int block_row = blockIdx.y * EDGE, block_col = blockIdx.x * EDGE;
    float acc[16][4] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        store4(&a_tile[threadIdx.x / 2][threadIdx.x % 2 * 4],
               load4_or_zero(A, M, K, block_row + threadIdx.x / 2, k0 + threadIdx.x % 2 * 4));
        store4(&b_tile[warp][lane * 4], load4_or_zero(B, K, N, k0 + warp, block_col + lane * 4));
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float b[4] = {b_tile[k][lane], b_tile[k][lane + 32], b_tile[k][lane + 64], b_tile[k][lane + 96]};
            #pragma unroll
            for (int i = 0; i < 16; ++i) {
                const float a = a_tile[warp * 16 + i][k];
                #pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += a * b[j];
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            store_if_inside(C, M, N, block_row + warp * 16 + i, block_col + lane + 32 * j, acc[i][j]);
        }
    }
}
