// The other way round: a round multiplies one buffer and then fills the other one from registers.
#include "common.cuh"
constexpr int BM = 128, BN = 128, BK = 8, PAD = 4;

extern "C" __global__ void __launch_bounds__(256)
sgemm_v07_double_buffer(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM + PAD], b_tile[2][BK][BN];
    const int t = threadIdx.x, block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int row = t / 16 * 8, col = t % 16 * 4;
    float4 a, b;
    auto load = [&](int k0) {
        a = load4_or_zero(A, M, K, block_row + t / 2, k0 + t % 2 * 4);
        b = load4_or_zero(B, K, N, k0 + t / 32, block_col + t % 32 * 4);
    };
    auto store = [&](int buffer) {
        a_tile[buffer][t % 2 * 4 + 0][t / 2] = a.x;
        a_tile[buffer][t % 2 * 4 + 1][t / 2] = a.y;
        a_tile[buffer][t % 2 * 4 + 2][t / 2] = a.z;
        a_tile[buffer][t % 2 * 4 + 3][t / 2] = a.w;
        store4(&b_tile[buffer][t / 32][t % 32 * 4], b);
    };
    float acc[8][8] = {};
    load(0);
    store(0);
    __syncthreads();
    int now = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        const bool more = k0 + BK < K;
        if (more) load(k0 + BK);
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float x[8], y[8];
            #pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = a_tile[now][k][row + i], y[i] = b_tile[now][k][col + i % 4 + i / 4 * 64];
            #pragma unroll
            for (int i = 0; i < 64; ++i) acc[i / 8][i % 8] += x[i / 8] * y[i % 8];
        }
        if (more) store(1 - now);
        now = 1 - now;
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) {
        store_if_inside(C, M, N, block_row + row + i / 8, block_col + col + i % 4 + i % 8 / 4 * 64, acc[i / 8][i % 8]);
    }
}
