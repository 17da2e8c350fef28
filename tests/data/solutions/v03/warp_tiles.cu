// Warps own 32 x 64 elements, lanes 8 x 8 of them; tiles are 16 deep, and the next step's operands are loaded early.
#include "common.cuh"
constexpr int EDGE = 128, DEPTH = 16;

extern "C" __global__ void __launch_bounds__(256)
sgemm_v03_from_shared(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[DEPTH][EDGE + 1], b_tile[DEPTH][EDGE];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / 2 * 32 + lane / 8 * 8, col = warp % 2 * 64 + lane % 8 * 8;
    float acc[8][8] = {}, a[8], b[8];
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = 0; i < EDGE * DEPTH; i += 256) {
            const int t = threadIdx.x + i;
            a_tile[t % DEPTH][t / DEPTH] = load_or_zero(A, M, K, int(blockIdx.y) * EDGE + t / DEPTH, k0 + t % DEPTH);
            b_tile[t / EDGE][t % EDGE] = load_or_zero(B, K, N, k0 + t / EDGE, int(blockIdx.x) * EDGE + t % EDGE);
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 8; ++i) a[i] = a_tile[0][row + i], b[i] = b_tile[0][col + i];
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            #pragma unroll
            for (int i = 0; i < 64; ++i) acc[i / 8][i % 8] = fmaf(a[i / 8], b[i % 8], acc[i / 8][i % 8]);
            if (k + 1 == DEPTH) break;
            #pragma unroll
            for (int i = 0; i < 8; ++i) a[i] = a_tile[k + 1][row + i], b[i] = b_tile[k + 1][col + i];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) {
        store_if_inside(C, M, N, int(blockIdx.y) * EDGE + row + i / 8, int(blockIdx.x) * EDGE + col + i % 8, acc[i / 8][i % 8]);
    }
}
