// v03_from_global.cu: a thread owns a TM x TN tile of C in registers; its operands come from global memory.
//
// Changed since v01: 64 elements of C per thread, so that TM + TN loads serve TM * TN multiply-adds.
// Left out: shared memory. Expect: per k a warp makes 16 loads, which its neighbours make as well, and a load
// of B touches 16 sectors for 4 bytes of each. Reuse in registers alone is not enough.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128;  // tile of C owned by one block
constexpr int TM = 8, TN = 8;      // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v03_from_global(int M, int N, int K, const float* A, const float* B, float* C)
{
    // ANCHOR: map
    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;     // and columns: thread_col .. + TN
    // ANCHOR_END: map

    float acc[TM][TN] = {};
    for (int k = 0; k < K; ++k) {
        // ANCHOR: compute
        float a_frag[TM], b_frag[TN];
        #pragma unroll
        for (int i = 0; i < TM; ++i) a_frag[i] = load_or_zero(A, M, K, block_row + thread_row + i, k);
        #pragma unroll
        for (int j = 0; j < TN; ++j) b_frag[j] = load_or_zero(B, K, N, k, block_col + thread_col + j);
        #pragma unroll
        for (int i = 0; i < TM; ++i) {
            #pragma unroll
            for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
        }
        // ANCHOR_END: compute
    }

    // ANCHOR: store
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, acc[i][j]);
        }
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
