// v10_tiles.cuh: tiles of A and B on their way from global memory to shared memory.
//
// A tile has BK k, mostly 64 bytes of bf16 or of TF32, twice as many bytes as in v07: two products of 16 or 8 k.
// 16 bytes follow each row, so that rows which a fragment loads together begin in different banks.
#pragma once
#include "v10_fragments.cuh"

constexpr int BM = 128, BN = 128;    // tile of C owned by one block
constexpr int VECTOR_BYTES = 16;     // what a thread loads at a time

// What the two kinds of elements differ in: what A, B and the tiles hold, and how many k a product takes.
template <typename Element>
struct Kind;

template <>
struct Kind<bf16> {
    using InMemory = bf16;
    static constexpr int DEPTH = 16;
};

template <>
struct Kind<tf32> {
    using InMemory = float;
    static constexpr int DEPTH = 8;
};

template <>
struct Kind<float> {  // of which the kernel makes TF32 itself
    using InMemory = float;
    static constexpr int DEPTH = 8;
};

// 16 bytes of a row as they lie in memory, whatever they hold.
using Vector = uint4;

__device__ __forceinline__ unsigned bits_or_zero(const float* X, int rows, int cols, int row, int col)
{
    return __float_as_uint(load_or_zero(X, rows, cols, row, col));
}

// Of two neighbours of 16 bits, which are a word.
__device__ __forceinline__ unsigned bits_or_zero(const bf16* X, int rows, int cols, int row, int col)
{
    const auto* bits = reinterpret_cast<const unsigned short*>(X);
    const unsigned low = load_or_zero(bits, rows, cols, row, col), high = load_or_zero(bits, rows, cols, row, col + 1);
    return low | high << 16;
}

// ANCHOR: load
// X[row][col] and its right neighbours, zeros outside. Rows start on 16 bytes: one load, which goes on while the
// program does. Where they don't, each element is looked at by itself.
template <bool ON_16_BYTES, typename T>
__device__ __forceinline__ Vector load_vector_or_zero(const T* X, int rows, int cols, int row, int col)
{
    if constexpr (ON_16_BYTES) {
        const bool there = row < rows && col < cols;
        return there ? *reinterpret_cast<const Vector*>(&X[row * cols + col]) : Vector{};
    } else {
        constexpr int WORD = sizeof(unsigned) / sizeof(T);  // elements of a word
        return {bits_or_zero(X, rows, cols, row, col), bits_or_zero(X, rows, cols, row, col + WORD),
                bits_or_zero(X, rows, cols, row, col + 2 * WORD), bits_or_zero(X, rows, cols, row, col + 3 * WORD)};
    }
}
// ANCHOR_END: load

// FP32 and bf16 go into the tile as they are.
template <typename Element>
__device__ __forceinline__ void store_vector(Element* to, Vector v)
{
    *reinterpret_cast<Vector*>(to) = v;
}

// ANCHOR: round
// FP32 is rounded to TF32 on its way, once for all that read it.
__device__ __forceinline__ unsigned as_tf32(unsigned bits)
{
    return __float_as_uint(round_to_tf32(__uint_as_float(bits)));
}

__device__ __forceinline__ void store_vector(tf32* to, Vector v)
{
    *reinterpret_cast<Vector*>(to) = {as_tf32(v.x), as_tf32(v.y), as_tf32(v.z), as_tf32(v.w)};
}
// ANCHOR_END: round

// A block's share of the way: THREADS threads load a tile of A and one of B to registers, and store them to the tiles,
// all at once or one part after another.
// PRODUCTS: how many products a tile has along k.
template <typename Element, int THREADS, int BM = BM, int BN = BN, int PRODUCTS = 2>
struct Loads {
    using InMemory = typename Kind<Element>::InMemory;
    static constexpr int N = VECTOR_BYTES / sizeof(InMemory);  // elements at a time
    static constexpr int BK = PRODUCTS * Kind<Element>::DEPTH;
    static constexpr int A_STRIDE = BK + N, B_STRIDE = BN + N; // from one row of a tile to the next
    static constexpr int A_ROWS = THREADS / (BK / N), B_ROWS = THREADS / (BN / N);  // rows at a time
    static constexpr int A_VECTORS = BM / A_ROWS, B_VECTORS = BK / B_ROWS;          // of one thread
    using A = Element[BM][A_STRIDE];
    using B = Element[BK][B_STRIDE];
    static_assert(A_VECTORS * A_ROWS == BM && B_VECTORS * B_ROWS == BK, "each thread loads as much as any other");

    Vector a[A_VECTORS], b[B_VECTORS];

    // Do the rows of A and B start on 16 bytes?
    static __device__ __forceinline__ bool on_16_bytes(int N_, int K) { return N_ % N == 0 && K % N == 0; }

    // The tiles at k0, or one of PARTS parts of them: zeros past an edge.
    template <bool ON_16_BYTES, int PARTS = 1>
    __device__ __forceinline__ void load(int M, int N_, int K, const InMemory* A_, const InMemory* B_, int block_row,
                                         int block_col, int k0, int part = 0)
    {
        const int thread = threadIdx.x;
        constexpr int A_PART = A_VECTORS / PARTS, B_PART = B_VECTORS / PARTS;
        static_assert(A_PART * PARTS == A_VECTORS && B_PART * PARTS == B_VECTORS, "parts are equal");
        #pragma unroll
        for (int i = part * A_PART; i < (part + 1) * A_PART; ++i)
            a[i] = load_vector_or_zero<ON_16_BYTES>(A_, M, K, block_row + i * A_ROWS + thread / (BK / N),
                                       k0 + thread % (BK / N) * N);
        #pragma unroll
        for (int i = part * B_PART; i < (part + 1) * B_PART; ++i)
            b[i] = load_vector_or_zero<ON_16_BYTES>(B_, K, N_, k0 + i * B_ROWS + thread / (BN / N),
                                       block_col + thread % (BN / N) * N);
    }

    template <int PARTS = 1>
    __device__ __forceinline__ void store(A& a_tile, B& b_tile, int part = 0) const
    {
        const int thread = threadIdx.x;
        constexpr int A_PART = A_VECTORS / PARTS, B_PART = B_VECTORS / PARTS;
        #pragma unroll
        for (int i = part * A_PART; i < (part + 1) * A_PART; ++i)
            store_vector(&a_tile[i * A_ROWS + thread / (BK / N)][thread % (BK / N) * N], a[i]);
        #pragma unroll
        for (int i = part * B_PART; i < (part + 1) * B_PART; ++i)
            store_vector(&b_tile[i * B_ROWS + thread / (BN / N)][thread % (BN / N) * N], b[i]);
    }
};
