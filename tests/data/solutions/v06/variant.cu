// v06.variant: fragments by 128-bit loads, for tiles of any shape and A stored in either way.
//
// A thread's columns come in groups of four, BN / (TN / 4) apart, so that neighbouring lanes read neighbouring float4.
// Where A is turned on its way to the tile, rows of the tile are padded as in v05, by a whole float4.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

// DRAWN
constexpr int BK = 8, BM = 128, BN = 64, TM = 8, TN = 4;
using Element = float;
constexpr bool A_TURNED = false, B_TURNED = false;
// DRAWN_END
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = A_TURNED ? 0 : 4;       // floats after each row of a_tile
constexpr int APART = BN / (TN / WIDTH);    // from one group of columns of a thread to the next
static_assert(A_TURNED || BK == 8, "the padding is for two float4 along k");
static_assert(!B_TURNED, "b_tile is loaded along its rows");

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_variant(int M, int N, int K, const Element* A, const Element* B, Element* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and APART further

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int t = thread; t < BM * BK / WIDTH; t += THREADS) {
            if (A_TURNED) {
                const int k = t / (BM / WIDTH), row = t % (BM / WIDTH) * WIDTH;
                store4(&a_tile[k][row], load4_or_zero(A, K, M, k0 + k, block_row + row));
            } else {
                const int row = t / (BK / WIDTH), k = t % (BK / WIDTH) * WIDTH;
                const float4 a = load4_or_zero(A, M, K, block_row + row, k0 + k);
                a_tile[k + 0][row] = a.x;
                a_tile[k + 1][row] = a.y;
                a_tile[k + 2][row] = a.z;
                a_tile[k + 3][row] = a.w;
            }
        }
        for (int t = thread; t < BK * BN / WIDTH; t += THREADS) {
            const int k = t / (BN / WIDTH), col = t % (BN / WIDTH) * WIDTH;
            store4(&b_tile[k][col], load4_or_zero(B, K, N, k0 + k, block_col + col));
        }
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            #pragma unroll
            for (int i = 0; i < TM; i += WIDTH) store4(&a_frag[i], load4(&a_tile[k][thread_row + i]));
            #pragma unroll
            for (int j = 0; j < TN; j += WIDTH) store4(&b_frag[j], load4(&b_tile[k][thread_col + j / WIDTH * APART]));
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const int col = block_col + thread_col + j / WIDTH * APART;
            const float4 c = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4_if_inside(C, M, N, block_row + thread_row + i, col, c);
        }
    }
}
