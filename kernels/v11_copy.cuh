// v11_copy.cuh: a product whose tiles are copied to shared memory while threads multiply (cp.async).
#pragma once
#include "v11_tile.cuh"

// ANCHOR: copy
// Copies FLOATS floats to shared memory while the thread goes on; zeros if they are not `there`.
template <int FLOATS>
__device__ __forceinline__ void copy_async(unsigned to, const float* from, bool there)
{
    const int bytes = there ? FLOATS * static_cast<int>(sizeof(float)) : 0;
    if (FLOATS == WIDTH)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
}

// X[row][col .. col + 4], zeros outside. One copy where rows start on 16 bytes, four where they don't.
template <bool ON_16_BYTES>
__device__ __forceinline__ void copy4_async(unsigned to, const float* X, int rows, int cols, int row, int col)
{
    const float* from = X + row * cols + col;
    #pragma unroll
    for (int j = 0; j < WIDTH; j += ON_16_BYTES ? WIDTH : 1) {
        const bool there = row < rows && col + j < cols;
        copy_async<ON_16_BYTES ? WIDTH : 1>(to + j * sizeof(float), there ? from + j : X, there);
    }
}
// ANCHOR_END: copy

// The tiles of A and B from k = k0 on, by all threads of the block.
template <typename T, bool ON_16_BYTES>
__device__ __forceinline__ void copy_tiles(unsigned to, const float* A, const float* B, int M, int N, int K,
                                           int block_row, int block_col, int k0)
{
    constexpr int A_CHUNKS = T::BM * T::BK / WIDTH, B_CHUNKS = T::BK * T::BN / WIDTH;  // float4s
    static_assert(A_CHUNKS % T::THREADS == 0 && B_CHUNKS % T::THREADS == 0, "all threads copy as many");
    #pragma unroll
    for (int first = 0; first < A_CHUNKS; first += T::THREADS) {
        const int i = first + threadIdx.x, row = i / (T::BK / WIDTH), chunk = i % (T::BK / WIDTH);
        const unsigned at = to + (row * T::BK + T::swizzle(row, chunk) * WIDTH) * sizeof(float);
        copy4_async<ON_16_BYTES>(at, A, M, K, block_row + row, k0 + chunk * WIDTH);
    }
    #pragma unroll
    for (int first = 0; first < B_CHUNKS; first += T::THREADS) {
        const int i = first + threadIdx.x, k = i / (T::BN / WIDTH), col = i % (T::BN / WIDTH) * WIDTH;
        const unsigned at = to + T::A_BYTES + (k * T::BN + col) * sizeof(float);
        copy4_async<ON_16_BYTES>(at, B, K, N, k0 + k, block_col + col);
    }
}

// ANCHOR: multiply
// C = alpha * A * B + beta * C, one tile of it per block, with STAGES pairs of tiles in shared memory: one in use,
// the others there already or on their way. What lies behind them is for the sums of slices.
template <typename T, int STAGES, bool ON_16_BYTES>
__device__ __forceinline__ void multiply_tiles(int M, int N, int K, float alpha, const float* A, const float* B,
                                               float beta, float* C, char* shared)
{
    const unsigned tiles = shared_address(shared);
    const int block_row = blockIdx.y * T::BM, block_col = blockIdx.x * T::BN;

    // Each call is one group of copies: the tiles from k_next on, or nothing past the last.
    int k_next = 0, filled = 0;
    auto copy_next = [&]() {
        const unsigned to = tiles + filled * T::STAGE_BYTES;
        if (k_next < K) copy_tiles<T, ON_16_BYTES>(to, A, B, M, N, K, block_row, block_col, k_next);
        asm volatile("cp.async.commit_group;" ::: "memory");
        k_next += T::BK;
        filled = filled + 1 == STAGES ? 0 : filled + 1;
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next();
    asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");  // the first is here
    __syncthreads();

    Multiplier<T> mine(threadIdx.x, tiles);
    mine.clear();
    mine.begin();
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += T::BK) {
        mine.multiply(
            [&]() {
                // The tiles that follow are here -> they may be read. All threads are done with those before the ones
                // in use -> they may be filled again.
                asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 3) : "memory");
                __syncthreads();
                copy_next();
                const bool wraps = ++stage == STAGES;
                if (wraps) stage = 0;
                return wraps ? -(STAGES - 1) * T::STAGE_BYTES : T::STAGE_BYTES;
            },
            []() {});
    }

    float4 sums[T::OWN_ROWS][T::TN / WIDTH];
    float4* behind = reinterpret_cast<float4*>(shared + STAGES * T::STAGE_BYTES);
    mine.exchange(sums, behind, threadIdx.x, alpha, []() { __syncthreads(); });
    if (beta != 0.0f) mine.add_old(sums, C, M, N, block_row, block_col, beta);
    mine.store(C, M, N, block_row, block_col, sums);
}
// ANCHOR_END: multiply

template <typename T, int STAGES>
__device__ __forceinline__ void multiply_tile(int M, int N, int K, float alpha, const float* A, const float* B,
                                              float beta, float* C)
{
    extern __shared__ __align__(1024) char shared[];
    if (N % WIDTH == 0 && K % WIDTH == 0) multiply_tiles<T, STAGES, true>(M, N, K, alpha, A, B, beta, C, shared);
    else multiply_tiles<T, STAGES, false>(M, N, K, alpha, A, B, beta, C, shared);
}
