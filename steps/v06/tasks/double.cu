// v06.double: 128-bit fragments in FP64, where 16 bytes are two elements.
//
// Per k a thread loads two double2 of A and two of B for its 4 x 4 tile of C. Its columns come as two and two,
// so that neighbouring lanes load neighbouring double2.
// Expect: 4 shared loads per 16 multiply-adds, and no excess wavefronts.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 64, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 4;            // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAIR = 2;  // doubles in a double2
constexpr int PAD = 2;   // doubles after each row of a_tile
static_assert(BM * BK == THREADS * PAIR, "each thread loads two neighbours of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");
static_assert(TM == 2 * PAIR && TN == 2 * PAIR, "a fragment is two double2s");

// ANCHOR: kernel
// Two doubles in one instruction. Both addresses must lie on 16 bytes.
__device__ __forceinline__ void copy2(double* to, const double* from)
{
    *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
}

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_fragments(int M, int N, int K, const double* A, const double* B, double* C)
{
    __shared__ __align__(16) double a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) double b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;    // this thread's rows: thread_row .. + TM
    // SOLUTION(v06): say which columns this thread owns, so that neighbouring lanes load neighbouring double2
    const int thread_col = thread % (BN / TN) * PAIR;  // and columns: thread_col, + 1, and BN / 2 further
    // STARTER| const int thread_col = thread % (BN / TN);  // and columns: thread_col, + BN / TN, ...
    // SOLUTION_END

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
            __align__(16) double a_frag[TM], b_frag[TN];
            // SOLUTION(v06): fill both fragments by two 128-bit loads each
            copy2(&a_frag[0], &a_tile[k][thread_row]);
            copy2(&a_frag[PAIR], &a_tile[k][thread_row + PAIR]);
            copy2(&b_frag[0], &b_tile[k][thread_col]);
            copy2(&b_frag[PAIR], &b_tile[k][thread_col + BN / 2]);
            // STARTER| for (int i = 0; i < TM; ++i) a_frag[i] = a_tile[k][thread_row + i];
            // STARTER| for (int j = 0; j < TN; ++j) b_frag[j] = b_tile[k][thread_col + j * (BN / TN)];
            // SOLUTION_END
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
        for (int j = 0; j < TN; ++j) {
            // SOLUTION(v06): say which column of C this is
            const int col = block_col + thread_col + j % PAIR + j / PAIR * (BN / 2);
            // STARTER| const int col = block_col + thread_col + j * (BN / TN);
            // SOLUTION_END
            store_if_inside(C, M, N, block_row + thread_row + i, col, acc[i][j]);
        }
    }
}
// ANCHOR_END: kernel
