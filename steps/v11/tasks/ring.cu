// v11.ring: a ring of two stages that copies fill.
//
// While a block multiplies one pair of tiles, cp.async brings the next pair to shared memory: no register holds it, and
// no thread waits for it before the next round. A lies in its tile as in memory, a_tile[row][k], because a copy of
// 16 bytes turns nothing.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
// arch: compute_80
#include "common.cuh"

constexpr int BM = 64, BN = 64, BK = 16;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 4;             // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int STAGES = 2;
constexpr int PAD = 4;  // floats after each row of a_tile
static_assert(BM * BK == THREADS * WIDTH && BK * BN == THREADS * WIDTH, "each thread copies one float4 to each tile");

// Starts a copy of BYTES bytes to shared memory, and goes on. Zeros if there is nothing `there`.
template <int BYTES>
__device__ __forceinline__ void copy_async(unsigned to, const float* from, bool there)
{
    const int bytes = there ? BYTES : 0;
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
}

// X[row][col .. col + 4] to shared memory, zeros outside: one copy where rows start on 16 bytes, else four.
__device__ __forceinline__ void copy4_async(float* to, const float* X, int rows, int cols, int row, int col)
{
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (cols % WIDTH == 0) {
        const bool there = row < rows && col < cols;
        copy_async<16>(at, there ? &X[row * cols + col] : X, there);
        return;
    }
    #pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
        const bool there = row < rows && col + j < cols;
        copy_async<4>(at + j * sizeof(float), there ? &X[row * cols + col + j] : X, there);
    }
}

// Until all copies that this thread has started are done.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_ring(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[STAGES][BM][BK + PAD];
    __shared__ __align__(16) float b_tile[STAGES][BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;  // and columns

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    copy4_async(&a_tile[0][a_row][a_col], A, M, K, block_row + a_row, a_col);
    copy4_async(&b_tile[0][b_row][b_col], B, K, N, b_row, block_col + b_col);

    float acc[TM][TN] = {};
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // SOLUTION(v11): wait for this stage, and start the copies to the other one
        wait_for_copies();
        // copies to this stage done -> reads may start; reads of the other one done -> copies to it may start
        __syncthreads();
        const int next = stage ^ 1;
        copy4_async(&a_tile[next][a_row][a_col], A, M, K, block_row + a_row, k0 + BK + a_col);
        copy4_async(&b_tile[next][b_row][b_col], B, K, N, k0 + BK + b_row, block_col + b_col);
        // SOLUTION_END

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float4 b_frag = load4(&b_tile[stage][k][thread_col]);
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                const float a = a_tile[stage][thread_row + i][k];
                acc[i][0] += a * b_frag.x;
                acc[i][1] += a * b_frag.y;
                acc[i][2] += a * b_frag.z;
                acc[i][3] += a * b_frag.w;
            }
        }
        stage ^= 1;
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const float4 c = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        store4_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col, c);
    }
}
// ANCHOR_END: kernel
