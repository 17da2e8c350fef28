// Three buffers that are filled by cp.async, two rounds ahead.
#include "common.cuh"
constexpr int BM = 128, BN = 128, BK = 8, STAGES = 3;

// Four floats of X to shared memory, zeros outside: by one copy of 16 bytes, or by four of 4.
__device__ __forceinline__ void fetch(float* to, const float* X, int rows, int cols, int row, int col)
{
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (cols % WIDTH == 0) {
        const bool inside = row < rows && col < cols;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at),
                     "l"(inside ? X + row * cols + col : X), "r"(inside ? 16 : 0) : "memory");
        return;
    }
    for (int i = 0; i < WIDTH; ++i) {
        const bool inside = row < rows && col + i < cols;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at + 4 * i),
                     "l"(inside ? X + row * cols + col + i : X), "r"(inside ? 4 : 0) : "memory");
    }
}

extern "C" __global__ void __launch_bounds__(256)
sgemm_v07_double_buffer(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[STAGES][BM][BK], b_tile[STAGES][BK][BN];
    const int t = threadIdx.x, block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int row = t / 16 * 8, col = t % 16 * 4;
    auto start = [&](int round) {
        const int k0 = round * BK, buffer = round % STAGES;
        if (k0 < K) {
            fetch(&a_tile[buffer][t / 2][t % 2 * 4], A, M, K, block_row + t / 2, k0 + t % 2 * 4);
            fetch(&b_tile[buffer][t / 32][t % 32 * 4], B, K, N, k0 + t / 32, block_col + t % 32 * 4);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int round = 0; round < STAGES - 1; ++round) start(round);
    float acc[8][8] = {};
    for (int round = 0; round * BK < K; ++round) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        start(round + STAGES - 1);
        const int now = round % STAGES;
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < 64; ++i) {
                acc[i / 8][i % 8] += a_tile[now][row + i / 8][k] * b_tile[now][k][col + i % 4 + i % 8 / 4 * 64];
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) {
        store_if_inside(C, M, N, block_row + row + i / 8, block_col + col + i % 4 + i % 8 / 4 * 64, acc[i / 8][i % 8]);
    }
}
