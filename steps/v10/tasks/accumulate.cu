// v10.accumulate: four warps that share the k of one fragment of C.
//
// A block owns 16 x 8 of C. Each warp multiplies every fourth 16 k, and keeps its accumulators in registers for all of
// K. An accumulator belongs to the same element of C in every warp, if lane and register are the same: so warps add
// theirs register by register, once, through shared memory.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
// arch: compute_80
#include "common.cuh"

constexpr int BM = 16, BN = 8, DEPTH = 16;  // of an m16n8k16
constexpr int WARPS = 4;
constexpr int THREADS = WARPS * WARP_SIZE;

using Bf16 = unsigned short;

// X[row][col] and the element `down` rows further and `right` columns further, as a word: the first in its low half.
__device__ __forceinline__ unsigned load_pair(const Bf16* X, int rows, int cols, int row, int col, int down, int right)
{
    const unsigned low = load_or_zero(X, rows, cols, row, col);
    const unsigned high = load_or_zero(X, rows, cols, row + down, col + right);
    return low | high << 16;
}

// A lane's part of a fragment of A: A[row][k], A[row][k + 1], and the same 8 rows and 8 k further on; zeros past an edge.
__device__ __forceinline__ void load_a(unsigned (&a)[4], const Bf16* A, int M, int K, int row, int k)
{
    #pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = load_pair(A, M, K, row + i % 2 * 8, k + i / 2 * 8, 0, 1);
}

// A lane's part of a fragment of B: B[k][col], B[k + 1][col], and the same 8 k further on; zeros past an edge.
__device__ __forceinline__ void load_b(unsigned (&b)[2], const Bf16* B, int K, int N, int k, int col)
{
    #pragma unroll
    for (int i = 0; i < 2; ++i) b[i] = load_pair(B, K, N, k + i * 8, col, 1, 0);
}

// acc += a * b: 16 rows, 8 columns, 16 k.
__device__ __forceinline__ void multiply_add(float (&acc)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// C[row][col], C[row][col + 1] = first, second, as far as that lies inside. `col` is even: one store where N is, too.
__device__ __forceinline__ void store2_if_inside(float* C, int M, int N, int row, int col, float first, float second)
{
    if (row < M && col < N && N % 2 == 0) {
        *reinterpret_cast<float2*>(&C[row * N + col]) = make_float2(first, second);
        return;
    }
    store_if_inside(C, M, N, row, col, first);
    store_if_inside(C, M, N, row, col + 1, second);
}

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
bf16gemm_accumulate(int M, int N, int K, const Bf16* A, const Bf16* B, float* C)
{
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const int group = lane / 4;     // of four lanes, which share a row of A and of C, and a column of B
    const int pair = lane % 4 * 2;  // the first of this lane's two neighbours in it
    const int row = blockIdx.y * BM + group;
    const int b_col = blockIdx.x * BN + group, c_col = blockIdx.x * BN + pair;

    // SOLUTION(v10): accumulate this warp's k in registers, add the accumulators of the four warps, and store them
    float acc[4] = {};
    for (int k0 = warp * DEPTH; k0 < K; k0 += WARPS * DEPTH) {
        unsigned a[4], b[2];
        load_a(a, A, M, K, row, k0 + pair);
        load_b(b, B, K, N, k0 + pair, b_col);
        multiply_add(acc, a, b);
    }

    __shared__ float others[WARPS - 1][4][WARP_SIZE];
    if (warp > 0)
        for (int i = 0; i < 4; ++i) others[warp - 1][i][lane] = acc[i];
    __syncthreads();  // accumulators of the other warps are written -> reads may start
    if (warp > 0) return;
    for (int other = 0; other < WARPS - 1; ++other)
        for (int i = 0; i < 4; ++i) acc[i] += others[other][i][lane];
    store2_if_inside(C, M, N, row, c_col, acc[0], acc[1]);
    store2_if_inside(C, M, N, row + 8, c_col, acc[2], acc[3]);
    // SOLUTION_END
}
// ANCHOR_END: kernel
