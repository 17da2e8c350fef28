// v06.double, a transfer task of 35 minutes: FP64: 16 bytes are two elements.
//
// The product in FP64: a block of 256 threads owns 64 x 64 elements of C and walks along K in steps
// of 8; a thread owns 4 x 4.
//
// Judged: right on every shape with all checks clean; at most 0.3125 loads of shared memory per
// multiply-add (four 16-byte loads for 16 multiply-adds are 0.25); no excess wavefront.
//
// What is missing is marked TODO. Check it with: cargo xtask check v06.double
//
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
    // TODO(v06): say which columns this thread owns, so that neighbouring lanes load neighbouring double2
    const int thread_col = thread % (BN / TN);  // and columns: thread_col, + BN / TN, ...

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
            // TODO(v06): fill both fragments by two 128-bit loads each
            for (int i = 0; i < TM; ++i) a_frag[i] = a_tile[k][thread_row + i];
            for (int j = 0; j < TN; ++j) b_frag[j] = b_tile[k][thread_col + j * (BN / TN)];
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
            // TODO(v06): say which column of C this is
            const int col = block_col + thread_col + j * (BN / TN);
            store_if_inside(C, M, N, block_row + thread_row + i, col, acc[i][j]);
        }
    }
}
