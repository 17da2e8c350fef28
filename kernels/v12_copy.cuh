// v12_copy.cuh: tiles of bf16 in shared memory for warps that load their fragments by ldmatrix.
//
// Both tiles lie as in global memory: a_tile[row][k], b_tile[k][col]. Pieces of 16 bytes change places with the row
// (swizzle), so that the eight pieces of one column of pieces, which ldmatrix reads together, lie in different banks:
// in a tile with rows of 64 bytes, of which two lie side by side in all banks, with every second row.
#pragma once
#include "v11_tile.cuh"
#include "v12_bf16.cuh"

constexpr int PIECE_BYTES = 16;
constexpr int ALL_BANKS = 8;  // pieces, side by side

// ANCHOR: copy
// X[row][col .. col + 8] to shared memory, zeros outside. Rows start on 16 bytes: a copy goes on by itself (cp.async),
// and one of no bytes reads nothing, wherever it points. Where they don't: no copy has 2 bytes, and numbers go through
// registers one by one.
template <bool ON_16_BYTES>
__device__ __forceinline__ void copy_piece(unsigned to, const Bf16* X, int rows, int cols, int row, int col)
{
    if constexpr (ON_16_BYTES) {
        const bool there = row < rows && col < cols;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(to), "l"(X + (row * cols + col)), "r"(there ? PIECE_BYTES : 0) : "memory");
    } else {
        unsigned word[BF16_WIDTH / 2];
        #pragma unroll
        for (int i = 0; i < BF16_WIDTH / 2; ++i) {
            const unsigned low = load_or_zero(X, rows, cols, row, col + 2 * i);
            const unsigned high = load_or_zero(X, rows, cols, row, col + 2 * i + 1);
            word[i] = low | high << 16;
        }
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                     :: "r"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]) : "memory");
    }
}

// Where piece `piece` of row `row` lies in a tile whose rows have PIECES pieces.
template <int PIECES>
__device__ __forceinline__ int place(int row, int piece)
{
    constexpr int SIDE_BY_SIDE = PIECES < ALL_BANKS ? ALL_BANKS / PIECES : 1;  // rows
    return (row * PIECES + (piece ^ row / SIDE_BY_SIDE % (ALL_BANKS / SIDE_BY_SIDE))) * PIECE_BYTES;
}

// X[row .. row + ROWS][col .. col + COLS], by THREADS threads.
template <int ROWS, int COLS, int THREADS, bool ON_16_BYTES>
__device__ __forceinline__ void copy_tile(unsigned to, const Bf16* X, int rows, int cols, int row, int col)
{
    constexpr int PIECES = COLS / BF16_WIDTH;  // of a row
    constexpr int APART = THREADS / PIECES;    // rows between two pieces of a thread
    static_assert(ROWS % APART == 0, "all threads copy as many");
    static_assert(APART % ALL_BANKS == 0, "all pieces of a thread change places alike");
    const int r = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    to += place<PIECES>(r, piece);
    #pragma unroll(ON_16_BYTES ? ROWS / APART : 1)
    for (int first = 0; first < ROWS; first += APART)
        copy_piece<ON_16_BYTES>(to + first * PIECES * PIECE_BYTES, X, rows, cols, row + r + first,
                                col + piece * BF16_WIDTH);
}
// ANCHOR_END: copy

// ANCHOR: fragments
// Four matrices of 8 x 8: lane i names row i % 8 of matrix i / 8, and gets of each two neighbours in row lane / 4 ...
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}

// ... or in column lane / 4.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&to)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}

// acc += a * b: 16 rows, 8 columns, 16 k.
__device__ __forceinline__ void multiply_add(float* acc, const unsigned (&a)[4], const unsigned* b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// ANCHOR_END: fragments
