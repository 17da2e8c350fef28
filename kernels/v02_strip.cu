// v02_strip.cu: the block brings its whole strips of A and B to shared memory, K long, and then multiplies.
//
// Changed since v02_shared: no walk along K and one barrier, because nothing is ever overwritten.
// The price: shared memory grows with K, and a block has only so much of it. Any M, N; K while it fits.
// Launch: THREADS threads, one block per BLOCK x BLOCK of C, and 2 * BLOCK * K * sizeof(float) bytes of
// dynamic shared memory: 128 K bytes. 48 KB hold K = 384; more needs the opt-in
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, whose limit is the device's (227 KB, K = 1816, on sm_90).
#include "common.cuh"

constexpr int BLOCK = 16;  // edge of the square of C owned by one block
constexpr int THREADS = BLOCK * BLOCK;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v02_strip(int M, int N, int K, const float* A, const float* B, float* C)
{
    extern __shared__ float strips[];
    float* a_strip = strips;              // a_strip[row][k], BLOCK x K
    float* b_strip = strips + BLOCK * K;  // b_strip[k][col], K x BLOCK

    // ANCHOR: map
    const int thread_row = threadIdx.x / BLOCK;
    const int thread_col = threadIdx.x % BLOCK;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;
    // ANCHOR_END: map

    // ANCHOR: load
    for (int k = thread_col; k < K; k += BLOCK) {
        a_strip[thread_row * K + k] = load_or_zero(A, M, K, row, k);  // A[row][k]
    }
    for (int k = thread_row; k < K; k += BLOCK) {
        b_strip[k * BLOCK + thread_col] = load_or_zero(B, K, N, k, col);  // B[k][col]
    }
    __syncthreads();  // writes to a_strip and b_strip done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: compute
    float acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += a_strip[thread_row * K + k]       // one address per row of threads
             * b_strip[k * BLOCK + thread_col];  // neighbours
    }
    // ANCHOR_END: compute
    store_if_inside(C, M, N, row, col, acc);
}
// ANCHOR_END: kernel
