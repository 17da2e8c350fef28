// v11_words.cuh: tiles of matrices whose rows start anywhere, word by word.
//
// No tensor map describes such a matrix, and no copy of 16 bytes fits it. The warps that copy use cp.async of one
// float each; nothing changes for the warps that multiply.
#pragma once
#include "v11_ring.cuh"

// One float to shared memory, while the thread goes on; a zero if it is not `there`. INSIDE: it surely is.
template <bool INSIDE>
__device__ __forceinline__ void copy_word(unsigned to, const char* from, bool there)
{
    if (INSIDE)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                     :: "r"(to), "l"(from), "r"(there ? 4 : 0) : "memory");
}

// `volatile`: one pointer that goes from row to row, not one for each row, for which there are no registers.
__device__ __forceinline__ void go_on(const char*& p, long long bytes)
{
    asm volatile("add.s64 %0, %0, %1;" : "+l"(p) : "l"(bytes));
}

// ANCHOR: words
// Tiles word by word, by all PRODUCERS threads: neighbouring threads copy neighbouring words.
template <typename T, int PRODUCERS>
struct Words {
    static constexpr int ARRIVALS = PRODUCERS, WORD = sizeof(float);
    static constexpr int ROWS = PRODUCERS / T::BK, KS = PRODUCERS / T::BN;  // of A and of B, at a time
    static_assert(T::BN <= PRODUCERS && T::BM % ROWS == 0 && T::BK % KS == 0, "a whole row of B at a time");
    static_assert(T::BK == 16 || ROWS == 4, "the swizzle of every second copy is that of the first, turned over");

    int M, N, K, k, row, col;   // this thread's words: k of `row` of A, column `col` of B, and those ROWS or KS further
    unsigned a_to, b_to;        // where they go in a pair of tiles
    long long a_step, b_step;   // from one to the next, in bytes
    const float *A, *B;
    const char *a_from, *b_from;
    int k0, rows_left;          // of the tiles that are next
    bool col_there, inside;

    __device__ __forceinline__ Words(int M_, int N_, int K_, const float* A_, const float* B_, int thread)
        : M(M_), N(N_), K(K_), k(thread % T::BK), row(thread / T::BK), col(thread % T::BN), A(A_), B(B_)
    {
        a_to = (row * T::BK + T::swizzle(row, k / WIDTH) * WIDTH + k % WIDTH) * WORD;
        b_to = T::A_BYTES + thread * WORD;
        a_step = static_cast<long long>(K) * ROWS * WORD;
        b_step = static_cast<long long>(N) * KS * WORD;
    }

    __device__ __forceinline__ int first_k() const { return (threadIdx.x - T::THREADS) / T::BN; }

    __device__ __forceinline__ void begin(int block_row, int block_col, int k0_)
    {
        k0 = k0_;
        a_from = reinterpret_cast<const char*>(A + static_cast<long long>(block_row + row) * K + k0 + k);
        b_from = reinterpret_cast<const char*>(B + static_cast<long long>(k0 + first_k()) * N + block_col + col);
        rows_left = M - block_row - row;
        col_there = block_col + col < N;
        inside = block_row + T::BM <= M && block_col + T::BN <= N;
    }

    template <bool INSIDE>
    __device__ __forceinline__ void copy_all(unsigned to)
    {
        const int rows = k0 + k < K ? rows_left : 0, ks = col_there ? K - k0 - first_k() : 0;
        const unsigned turned = a_to ^ (T::BK == 16 ? 0 : 4 * WIDTH * WORD);
        const char* from = a_from;
        #pragma unroll
        for (int i = 0; i < T::BM / ROWS; ++i) {
            copy_word<INSIDE>(to + (i % 2 == 0 ? a_to : turned) + i * ROWS * T::BK * WORD, from, i * ROWS < rows);
            go_on(from, a_step);
        }
        #pragma unroll
        for (int i = 0; i < T::BK / KS; ++i) {
            copy_word<INSIDE>(to + b_to + i * PRODUCERS * WORD, b_from, i * KS < ks);
            go_on(b_from, b_step);
        }
        go_on(a_from, T::BK * WORD);
    }

    __device__ __forceinline__ void copy(unsigned to, unsigned barrier)
    {
        if (inside && k0 + T::BK <= K) copy_all<true>(to);
        else copy_all<false>(to);
        k0 += T::BK;
        arrive_after_copies(barrier);
    }
};
// ANCHOR_END: words
