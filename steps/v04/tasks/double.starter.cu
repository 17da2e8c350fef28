// v04.double, a transfer task of 35 minutes: FP64: two elements are 16 bytes.
//
// The product in FP64 with 16 bytes per lane: a block of 256 threads owns 64 x 64 elements of C and
// walks along K in steps of 8. The helpers of common.cuh are for float; those for double2 are part
// of the task. Rows start on 16 bytes where their length is even.
//
// Judged: right on every shape with all checks clean; 16 bytes per lane for loads and for stores of
// C where K and N are even.
//
// What is missing is marked TODO. Check it with: cargo xtask check v04.double
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int PAIR = 2;                  // doubles in a double2
constexpr int BM = 64, BN = 64, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 4;            // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(BM * BK == THREADS * PAIR, "each thread loads one double2 of a_tile");
static_assert(BK * BN == THREADS * PAIR, "each thread loads one double2 of b_tile");

// X[row][col .. col + 2], zeros outside. One load where both are there and rows start on 16 bytes. `col` is even.
__device__ __forceinline__ double2 load2_or_zero(const double* X, int rows, int cols, int row, int col)
{
    // TODO(v04): load both in one instruction where that is possible
    return make_double2(load_or_zero(X, rows, cols, row, col), load_or_zero(X, rows, cols, row, col + 1));
}

// X[row][col .. col + 2] = v, as far as that lies inside. One store where load2_or_zero needs one load.
__device__ __forceinline__ void store2_if_inside(double* X, int rows, int cols, int row, int col, double2 v)
{
    // TODO(v04): store both in one instruction where that is possible
    store_if_inside(X, rows, cols, row, col, v.x);
    store_if_inside(X, rows, cols, row, col + 1, v.y);
}

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_pairs(int M, int N, int K, const double* A, const double* B, double* C)
{
    __shared__ __align__(16) double a_tile[BM][BK];
    __shared__ __align__(16) double b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;  // and columns: thread_col .. + TN

    // TODO(v04): say where in a_tile and b_tile this thread's double2 goes

    double acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // TODO(v04): bring in one double2 of each tile, then wait

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
        for (int j = 0; j < TN; j += PAIR) {
            const double2 c = make_double2(acc[i][j], acc[i][j + 1]);
            store2_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, c);
        }
    }
}
