// producers_and_consumers.cu: the upper half of the block loads, the lower half multiplies.
//
// Every round the producers fill one buffer while the consumers multiply from the other one, and all of them meet once.
// A consumer owns 16 x 8 elements of C, because there are half as many of them.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;
constexpr int TM = 16, TN = 8;
constexpr int CONSUMERS = (BM / TM) * (BN / TN);
constexpr int PRODUCERS = CONSUMERS;
constexpr int EACH = BM * BK / WIDTH / PRODUCERS;  // float4s of a tile that a producer loads
constexpr int PAD = 4;

extern "C" __global__ void __launch_bounds__(CONSUMERS + PRODUCERS)
sgemm_v07_double_buffer(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM + PAD];
    __shared__ __align__(16) float b_tile[2][BK][BN];

    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const bool loads = threadIdx.x >= CONSUMERS;
    const int thread = threadIdx.x % CONSUMERS;
    const int thread_row = thread / (BN / TN) * TM;
    const int thread_col = thread % (BN / TN) * TN;

    float acc[TM][TN] = {};
    // In round r the tile at r * BK is loaded, and the one before it is multiplied.
    for (int k0 = 0; k0 < K + BK; k0 += BK) {
        const int buffer = k0 / BK % 2;
        if (loads && k0 < K) {
            for (int i = 0; i < EACH; ++i) {
                const int at = thread + i * PRODUCERS;
                const int a_row = at / (BK / WIDTH), a_col = at % (BK / WIDTH) * WIDTH;
                const int b_row = at / (BN / WIDTH), b_col = at % (BN / WIDTH) * WIDTH;
                const float4 a = load4_or_zero(A, M, K, block_row + a_row, k0 + a_col);
                a_tile[buffer][a_col + 0][a_row] = a.x;
                a_tile[buffer][a_col + 1][a_row] = a.y;
                a_tile[buffer][a_col + 2][a_row] = a.z;
                a_tile[buffer][a_col + 3][a_row] = a.w;
                store4(&b_tile[buffer][b_row][b_col], load4_or_zero(B, K, N, k0 + b_row, block_col + b_col));
            }
        }
        if (!loads && k0 > 0) {
            #pragma unroll
            for (int k = 0; k < BK; ++k) {
                float a_frag[TM], b_frag[TN];
                for (int i = 0; i < TM; ++i) a_frag[i] = a_tile[buffer ^ 1][k][thread_row + i];
                for (int j = 0; j < TN; ++j) b_frag[j] = b_tile[buffer ^ 1][k][thread_col + j];
                for (int i = 0; i < TM; ++i) {
                    for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
                }
            }
        }
        // writes to this buffer and reads of the other one done -> they change parts
        __syncthreads();
    }

    if (loads) return;
    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + thread_row + i, col = block_col + thread_col + j;
            if (row < M && col < N) C[row * N + col] = acc[i][j];
        }
    }
}
