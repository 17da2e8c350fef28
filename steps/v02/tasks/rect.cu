// v02.rect: a block owns 16 rows and 32 columns of C and walks along K in steps of 16.
//
// The tile of B has as many elements as the block has threads, that of A half as many: half of the threads load
// an element of A, and all of them meet at the barriers. Expect: 2 barriers per 16 steps of k.
// Any M, N, K. Launch: BM * BN threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 16, BN = 32, BK = 16;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int THREADS = BM * BN;
static_assert(BK * BN == THREADS, "each thread loads one element of b_tile");
static_assert(BM * BK <= THREADS, "a thread loads at most one element of a_tile");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_rect(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / BN;
    const int thread_col = thread % BN;
    const int a_row = thread / BK;  // where in a_tile this thread loads, if a_row < BM
    const int a_col = thread % BK;

    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (a_row < BM) a_tile[a_row][a_col] = load_or_zero(A, M, K, block_row + a_row, k0 + a_col);
        b_tile[thread_row][thread_col] = load_or_zero(B, K, N, k0 + thread_row, block_col + thread_col);
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            acc += a_tile[thread_row][k]   // one address per warp
                 * b_tile[k][thread_col];  // neighbours
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }
    store_if_inside(C, M, N, block_row + thread_row, block_col + thread_col, acc);
}
// ANCHOR_END: kernel
