// v04.variant: 16 bytes per lane, for tiles of any shape and operands that are stored in any way.
//
// A float4 holds four neighbours of what is stored: four steps of k where rows of the operand run along k, and then
// its elements go to the tile one by one, because the tiles have k first.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

// DRAWN
constexpr int BK = 16, BM = 64, BN = 64, TM = 4, TN = 4;
using Element = float;
constexpr bool A_TURNED = false, B_TURNED = false;
// DRAWN_END
constexpr int THREADS = (BM / TM) * (BN / TN);

// One operand's tile, tile[k][edge]: `along_k` says that rows of what is stored run along k.
template <int EDGE, bool along_k>
__device__ __forceinline__ void fill(float (&tile)[BK][EDGE], const float* X, int edges, int K, int edge0, int k0)
{
    for (int t = threadIdx.x; t < EDGE * BK / WIDTH; t += THREADS) {
        if (along_k) {
            const int edge = t / (BK / WIDTH), k = t % (BK / WIDTH) * WIDTH;
            const float4 v = load4_or_zero(X, edges, K, edge0 + edge, k0 + k);
            tile[k + 0][edge] = v.x;
            tile[k + 1][edge] = v.y;
            tile[k + 2][edge] = v.z;
            tile[k + 3][edge] = v.w;
        } else {
            const int k = t / (EDGE / WIDTH), edge = t % (EDGE / WIDTH) * WIDTH;
            store4(&tile[k][edge], load4_or_zero(X, K, edges, k0 + k, edge0 + edge));
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_variant(int M, int N, int K, const Element* A, const Element* B, Element* C)
{
    __shared__ __align__(16) float a_tile[BK][BM];
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;  // and columns: thread_col .. + TN

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        fill<BM, !A_TURNED>(a_tile, A, M, K, block_row, k0);
        fill<BN, B_TURNED>(b_tile, B, N, K, block_col, k0);
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_tile[k][thread_row + i] * b_tile[k][thread_col + j];
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
