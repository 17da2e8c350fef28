// v11.variant: a ring of any number of stages, for tiles of any shape and operands that are stored in any way.
//
// A copy turns nothing, so each operand lies in its tile as in memory.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
// arch: compute_80
#include "common.cuh"

// DRAWN
constexpr int BK = 16, BM = 64, BN = 128, STAGES = 3, TM = 4, TN = 8;
using Element = float;
constexpr bool A_TURNED = false, B_TURNED = false;
// DRAWN_END
constexpr int THREADS = (BM / TM) * (BN / TN);

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

// Closes the group of the copies that this thread has started since the last call.
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until at most GROUPS groups of this thread are still on their way.
template <int GROUPS>
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(GROUPS) : "memory"); }

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_variant(int M, int N, int K, const Element* A, const Element* B, Element* C)
{
    // SOLUTION(v11): everything: the tiles, the copies of the first STAGES - 1 pairs, the loop, the store
    constexpr int PAD = 4;                                                    // floats after each row of a tile
    constexpr int A_ROWS = A_TURNED ? BK : BM, A_COLS = A_TURNED ? BM : BK;  // of a tile, as in memory
    constexpr int B_ROWS = B_TURNED ? BN : BK, B_COLS = B_TURNED ? BK : BN;
    __shared__ __align__(16) float a_tile[STAGES][A_ROWS][A_COLS + PAD];
    __shared__ __align__(16) float b_tile[STAGES][B_ROWS][B_COLS + PAD];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and APART further
    constexpr int APART = BN / (TN / WIDTH);

    const auto copy = [&](int stage, int k0) {
        #pragma unroll
        for (int i = thread * WIDTH; i < A_ROWS * A_COLS; i += THREADS * WIDTH) {
            const int row = i / A_COLS, col = i % A_COLS;
            copy4_async(&a_tile[stage][row][col], A, A_TURNED ? K : M, A_TURNED ? M : K,
                        row + (A_TURNED ? k0 : block_row), col + (A_TURNED ? block_row : k0));
        }
        #pragma unroll
        for (int i = thread * WIDTH; i < B_ROWS * B_COLS; i += THREADS * WIDTH) {
            const int row = i / B_COLS, col = i % B_COLS;
            copy4_async(&b_tile[stage][row][col], B, B_TURNED ? N : K, B_TURNED ? K : N,
                        row + (B_TURNED ? block_col : k0), col + (B_TURNED ? k0 : block_col));
        }
        commit_copies();
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage, stage * BK);

    float acc[TM][TN] = {};
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        wait_for_copies<STAGES - 2>();
        // copies to this stage done -> reads may start; reads of the one before done -> copies to it may start
        __syncthreads();
        copy((stage + STAGES - 1) % STAGES, k0 + (STAGES - 1) * BK);

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a_frag[TM], b_frag[TN];
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                a_frag[i] = A_TURNED ? a_tile[stage][k][thread_row + i] : a_tile[stage][thread_row + i][k];
            #pragma unroll
            for (int j = 0; j < TN; ++j) {
                const int col = thread_col + j / WIDTH * APART + j % WIDTH;
                b_frag[j] = B_TURNED ? b_tile[stage][col][k] : b_tile[stage][k][col];
            }
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        stage = (stage + 1) % STAGES;
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
    // SOLUTION_END
}
