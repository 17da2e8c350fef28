// Wide loads and stores, but every thread reads global memory for itself.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
sgemm_v04_float4(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * 128 + threadIdx.x / 16 * 8, col = blockIdx.x * 128 + threadIdx.x % 16 * 8;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += 4) {
        float4 a[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i) a[i] = load4_or_zero(A, M, K, row + i, k0);
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float4 left = load4_or_zero(B, K, N, k0 + k, col), right = load4_or_zero(B, K, N, k0 + k, col + 4);
            const float b[8] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                const float x = k == 0 ? a[i].x : k == 1 ? a[i].y : k == 2 ? a[i].z : a[i].w;
                #pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] += x * b[j];
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        store4_if_inside(C, M, N, row + i, col, make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]));
        store4_if_inside(C, M, N, row + i, col + 4, make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]));
    }
}
