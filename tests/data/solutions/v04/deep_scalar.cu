// Tiles 16 deep, filled float by float.
//
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 16;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;               // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int A_ROWS = THREADS / (BK / WIDTH);  // rows of a_tile that the block loads at once
constexpr int B_ROWS = THREADS / (BN / WIDTH);  // rows of b_tile
static_assert(BM % A_ROWS == 0 && BK % B_ROWS == 0, "the block loads whole rows");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_deep(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BM][BK];
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;  // and columns: thread_col .. + TN

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's first float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int i = 0; i < BM; i += A_ROWS) {
            for (int w = 0; w < WIDTH; ++w) {
                a_tile[a_row + i][a_col + w] = load_or_zero(A, M, K, block_row + a_row + i, k0 + a_col + w);
            }
        }
        #pragma unroll
        for (int i = 0; i < BK; i += B_ROWS) {
            for (int w = 0; w < WIDTH; ++w) {
                b_tile[b_row + i][b_col + w] = load_or_zero(B, K, N, k0 + b_row + i, block_col + b_col + w);
            }
        }
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    acc[i][j] += a_tile[thread_row + i][k] * b_tile[k][thread_col + j];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const float4 c = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, c);
        }
    }
}
// ANCHOR_END: kernel
