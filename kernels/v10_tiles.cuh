// v10_tiles.cuh: tiles of A and B on their way from global memory to shared memory.
//
// A tile has BK k, which are 64 bytes of bf16 or of TF32: twice as many as in v07, since a product takes 16 or 8 of
// them at a time. 16 bytes follow each row, so that rows which a fragment loads together begin in different banks.
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

// As many elements as fit in VECTOR_BYTES.
template <typename T>
struct alignas(VECTOR_BYTES) Vector {
    T x[VECTOR_BYTES / sizeof(T)];
};

// X[row][col] and its right neighbours, zeros outside. One load where all are there and rows start on 16 bytes.
template <typename T>
__device__ __forceinline__ Vector<T> load_vector_or_zero(const T* X, int rows, int cols, int row, int col)
{
    constexpr int N = sizeof(Vector<T>) / sizeof(T);
    if (row < rows && col < cols && cols % N == 0)
        return *reinterpret_cast<const Vector<T>*>(&X[row * cols + col]);
    Vector<T> v = {};
    #pragma unroll
    for (int i = 0; i < N; ++i)
        if (row < rows && col + i < cols) v.x[i] = X[row * cols + col + i];
    return v;
}

// bf16 goes into the tile as it is.
__device__ __forceinline__ void store_vector(bf16* to, Vector<bf16> v)
{
    *reinterpret_cast<Vector<bf16>*>(to) = v;
}

__device__ __forceinline__ void store_vector(float* to, Vector<float> v)
{
    store4(to, make_float4(v.x[0], v.x[1], v.x[2], v.x[3]));
}

// ANCHOR: round
// FP32 is rounded to TF32 on its way, once for all that read it.
__device__ __forceinline__ void store_vector(tf32* to, Vector<float> v)
{
    store4(&to->value, make_float4(round_to_tf32(v.x[0]), round_to_tf32(v.x[1]), round_to_tf32(v.x[2]),
                                   round_to_tf32(v.x[3])));
}
// ANCHOR_END: round

// A block's share of the way: THREADS threads load a tile of A and one of B to registers, and store them to the tiles.
template <typename Element, int THREADS>
struct Loads {
    using InMemory = typename Kind<Element>::InMemory;
    static constexpr int N = VECTOR_BYTES / sizeof(InMemory);  // elements at a time
    static constexpr int BK = 2 * Kind<Element>::DEPTH;
    static constexpr int A_STRIDE = BK + N, B_STRIDE = BN + N; // from one row of a tile to the next
    static constexpr int A_ROWS = THREADS / (BK / N), B_ROWS = THREADS / (BN / N);  // rows at a time
    static constexpr int A_VECTORS = BM / A_ROWS, B_VECTORS = BK / B_ROWS;          // of one thread
    using A = Element[BM][A_STRIDE];
    using B = Element[BK][B_STRIDE];
    static_assert(A_VECTORS * A_ROWS == BM && B_VECTORS * B_ROWS == BK, "each thread loads as much as any other");

    Vector<InMemory> a[A_VECTORS], b[B_VECTORS];

    // The tiles at k0: zeros past an edge.
    __device__ __forceinline__ void load(int M, int N_, int K, const InMemory* A_, const InMemory* B_, int block_row,
                                         int block_col, int k0)
    {
        const int thread = threadIdx.x;
        #pragma unroll
        for (int i = 0; i < A_VECTORS; ++i)
            a[i] = load_vector_or_zero(A_, M, K, block_row + i * A_ROWS + thread / (BK / N),
                                       k0 + thread % (BK / N) * N);
        #pragma unroll
        for (int i = 0; i < B_VECTORS; ++i)
            b[i] = load_vector_or_zero(B_, K, N_, k0 + i * B_ROWS + thread / (BN / N),
                                       block_col + thread % (BN / N) * N);
    }

    __device__ __forceinline__ void store(A& a_tile, B& b_tile) const
    {
        const int thread = threadIdx.x;
        #pragma unroll
        for (int i = 0; i < A_VECTORS; ++i)
            store_vector(&a_tile[i * A_ROWS + thread / (BK / N)][thread % (BK / N) * N], a[i]);
        #pragma unroll
        for (int i = 0; i < B_VECTORS; ++i)
            store_vector(&b_tile[i * B_ROWS + thread / (BN / N)][thread % (BN / N) * N], b[i]);
    }
};
