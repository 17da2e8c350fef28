// v05.double, a transfer task of 35 minutes: FP64: every element lies in two banks.
//
// The product in FP64: a block of 256 threads owns 64 x 64 elements of C and walks along K in steps
// of 8; a thread owns 4 x 4.
//
// Judged: right on every shape with all checks clean; no excess wavefront at all. 32 lanes with 8
// bytes each are two wavefronts at best, 16 lanes each.
//
// What is missing is marked TODO. Check it with: cargo xtask check v05.double
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 64, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 4;            // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAIR = 2;  // neighbouring doubles of A that a thread loads
// TODO(v05): pad the rows of a_tile so that 16 lanes store to 32 different banks
constexpr int PAD = 0;  // doubles after each row of a_tile
static_assert(BM * BK == THREADS * PAIR, "each thread loads two neighbours of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_conflict_free(int M, int N, int K, const double* A, const double* B, double* C)
{
    __shared__ double a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ double b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    // TODO(v05): hand out the columns so that 16 lanes read 16 neighbouring doubles of b_tile
    const int thread_col = thread % (BN / TN) * TN;  // and columns: thread_col .. + TN
    constexpr int STEP = 1;                          // from one column of a thread to its next

    const int a_row = thread / (BK / PAIR);  // where in a_tile this thread's two elements go
    const int a_col = thread % (BK / PAIR) * PAIR;
    const int b_row = thread / BN;  // and where in b_tile it starts to load
    const int b_col = thread % BN;

    double acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int i = 0; i < PAIR; ++i) {
            a_tile[a_col + i][a_row] = load_or_zero(A, M, K, block_row + a_row, k0 + a_col + i);
        }
        #pragma unroll
        for (int i = 0; i < BK; i += THREADS / BN) {
            b_tile[b_row + i][b_col] = load_or_zero(B, K, N, k0 + b_row + i, block_col + b_col);
        }
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    acc[i][j] += a_tile[k][thread_row + i] * b_tile[k][thread_col + j * STEP];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j * STEP, acc[i][j]);
        }
    }
}
