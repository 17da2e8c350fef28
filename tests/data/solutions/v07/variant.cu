// v07.variant: load ahead with two buffers, for tiles of any shape and operands that are stored in any way.
//
// A thread keeps its float4 of the next tiles in registers while it multiplies these.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

// DRAWN
constexpr int BK = 16, BM = 128, BN = 64, TM = 8, TN = 4;
using Element = float;
constexpr bool A_TURNED = false, B_TURNED = false;
// DRAWN_END
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;                    // floats after each row of a tile
constexpr int APART = BN / (TN / WIDTH);  // from one group of columns of a thread to the next

// One operand's tiles, tile[k][edge]: `along_k` says that rows of what is stored run along k.
template <int EDGE, bool along_k>
struct Next {
    static constexpr int EACH = EDGE * BK / WIDTH / THREADS;
    static_assert(EACH * THREADS * WIDTH == EDGE * BK, "each thread loads as much");
    float4 waiting[EACH];

    // Where float4 number i of this thread lies in the tile.
    __device__ static int k(int i)
    {
        const int t = threadIdx.x + i * THREADS;
        return along_k ? t % (BK / WIDTH) * WIDTH : t / (EDGE / WIDTH);
    }
    __device__ static int edge(int i)
    {
        const int t = threadIdx.x + i * THREADS;
        return along_k ? t / (BK / WIDTH) : t % (EDGE / WIDTH) * WIDTH;
    }

    __device__ __forceinline__ void load(const float* X, int edges, int K, int edge0, int k0)
    {
        #pragma unroll
        for (int i = 0; i < EACH; ++i) {
            waiting[i] = along_k ? load4_or_zero(X, edges, K, edge0 + edge(i), k0 + k(i))
                                 : load4_or_zero(X, K, edges, k0 + k(i), edge0 + edge(i));
        }
    }

    __device__ __forceinline__ void store(float (&tile)[BK][EDGE + PAD])
    {
        #pragma unroll
        for (int i = 0; i < EACH; ++i) {
            if (along_k) {
                tile[k(i) + 0][edge(i)] = waiting[i].x;
                tile[k(i) + 1][edge(i)] = waiting[i].y;
                tile[k(i) + 2][edge(i)] = waiting[i].z;
                tile[k(i) + 3][edge(i)] = waiting[i].w;
            } else {
                store4(&tile[k(i)][edge(i)], waiting[i]);
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_variant(int M, int N, int K, const Element* A, const Element* B, Element* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM + PAD];
    __shared__ __align__(16) float b_tile[2][BK][BN + PAD];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and APART further

    Next<BM, !A_TURNED> a_next;
    Next<BN, B_TURNED> b_next;
    a_next.load(A, M, K, block_row, 0);
    b_next.load(B, N, K, block_col, 0);

    float acc[TM][TN] = {};
    int buffer = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        a_next.store(a_tile[buffer]);
        b_next.store(b_tile[buffer]);
        // writes to this buffer done -> reads may start; reads of the other one done -> writes may start
        __syncthreads();
        a_next.load(A, M, K, block_row, k0 + BK);
        b_next.load(B, N, K, block_col, k0 + BK);

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            #pragma unroll
            for (int i = 0; i < TM; i += WIDTH) store4(&a_frag[i], load4(&a_tile[buffer][k][thread_row + i]));
            #pragma unroll
            for (int j = 0; j < TN; j += WIDTH) {
                store4(&b_frag[j], load4(&b_tile[buffer][k][thread_col + j / WIDTH * APART]));
            }
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        buffer ^= 1;
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
