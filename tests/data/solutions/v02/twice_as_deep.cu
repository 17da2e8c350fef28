// Two tiles of each operand in a round, and the inner loop unrolled by hand.
#include "common.cuh"
constexpr int E = 32, DEPTH = 64;

extern "C" __global__ void __launch_bounds__(E * E)
sgemm_v02_tile32(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a[E][DEPTH], b[DEPTH][E];
    const int y = threadIdx.x / E, x = threadIdx.x % E;
    const int row = blockIdx.y * E + y, col = blockIdx.x * E + x;
    float even = 0, odd = 0;
    int k0 = 0;
    while (k0 < K) {
        a[y][x] = load_or_zero(A, M, K, row, k0 + x);
        a[y][x + E] = load_or_zero(A, M, K, row, k0 + x + E);
        b[y][x] = load_or_zero(B, K, N, k0 + y, col);
        b[y + E][x] = load_or_zero(B, K, N, k0 + y + E, col);
        __syncthreads();
        for (int k = 0; k != DEPTH; k += 2) {
            even = fmaf(a[y][k], b[k][x], even);
            odd = fmaf(a[y][k + 1], b[k + 1][x], odd);
        }
        __syncthreads();
        k0 += DEPTH;
    }
    if (row < M && col < N) C[row * N + col] = even + odd;
}
