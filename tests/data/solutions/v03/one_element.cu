// The tiles of v03, but a thread computes its 64 elements of C one after the other.
#include "common.cuh"
constexpr int BM = 128, BN = 128, BK = 8, THREADS = 256, EACH = BM * BN / THREADS;

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v03_from_shared(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BM][BK], b_tile[BK][BN];
    const int thread = threadIdx.x, block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int row = thread / BN, col = thread % BN;  // and every second row below
    float acc[EACH] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int t = thread; t < BM * BK; t += THREADS) {
            a_tile[t / BK][t % BK] = load_or_zero(A, M, K, block_row + t / BK, k0 + t % BK);
        }
        for (int t = thread; t < BK * BN; t += THREADS) {
            b_tile[t / BN][t % BN] = load_or_zero(B, K, N, k0 + t / BN, block_col + t % BN);
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < EACH; ++i) {
            for (int k = 0; k < BK; ++k) acc[i] += a_tile[row + 2 * i][k] * b_tile[k][col];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < EACH; ++i) store_if_inside(C, M, N, block_row + row + 2 * i, block_col + col, acc[i]);
}
