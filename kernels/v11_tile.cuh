// v11_tile.cuh: what the kernels of v11 with asynchronous copies share: multiplying tiles of A and B that lie in
// shared memory as they lie in global memory, and the way of the sums to C.
//
// a_tile[row][k]: a thread reads four k of one row with one load, and uses them one after another, so that nothing
// is transposed. The float4s of a row change places with the row (swizzle): rows that a warp reads together lie in
// different banks. b_tile[k][col]: a thread reads four columns of one k.
#pragma once
#include "common.cuh"

// ANCHOR: inline
// An address as instructions on shared memory take it: 32 bits.
__device__ __forceinline__ unsigned shared_address(const void* p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// `volatile` keeps loads and multiply-adds in the order in which they are written, in PTX.
__device__ __forceinline__ void load4_shared(float (&to)[WIDTH], unsigned address)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "r"(address) : "memory");
}

__device__ __forceinline__ void multiply_add(float& acc, float a, float b)
{
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(acc) : "f"(a), "f"(b));
}
// ANCHOR_END: inline

// ANCHOR: tile
// How a block's tile of C, BM x BN, is shared out. A thread owns TM x TN of it, a warp LANES_M x LANES_N threads.
// Tiles of A and B are BK deep. SLICES groups of warps take BK / SLICES of these k each, all for the whole tile of
// C, and their sums meet at the end: a small tile keeps more warps busy that way.
template <int BM_, int BN_, int BK_, int TM_, int TN_, int SLICES_>
struct Tile {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_, SLICES = SLICES_;
    static constexpr int LANES_M = 4, LANES_N = 8;
    static constexpr int WARP_M = LANES_M * TM, WARP_N = LANES_N * TN;
    static constexpr int SLICE_THREADS = (BM / TM) * (BN / TN);
    static constexpr int THREADS = SLICES * SLICE_THREADS;
    static constexpr int SLICE_K = BK / SLICES;
    static constexpr int CHUNKS = SLICE_K / WIDTH;      // float4s of a row of A that a slice takes
    static constexpr int OWN_ROWS = TM / SLICES;        // rows of a thread's tile that it brings to C itself
    static constexpr int A_BYTES = BM * BK * sizeof(float), B_BYTES = BK * BN * sizeof(float);
    static constexpr int STAGE_BYTES = A_BYTES + B_BYTES;
    static constexpr int EXCHANGE_BYTES = (SLICES - 1) * BM * BN * sizeof(float);

    static_assert(BK == 16 || BK == 32, "a row of A has 64 or 128 bytes: the swizzles of a tensor map");
    static_assert(BM % WARP_M == 0 && BN % WARP_N == 0 && WARP_M % 8 == 0, "whole warps");
    static_assert(TM % SLICES == 0 && TM % WIDTH == 0 && TN % WIDTH == 0, "whole rows and float4s");
    static_assert(CHUNKS % 2 == 0, "the last k of a tile and the first of the next use different fragments");

    // The place in its row of float4 `chunk` of row `row` of A.
    static __device__ __forceinline__ int swizzle(int row, int chunk)
    {
        return chunk ^ (BK == 16 ? row / 2 % 4 : row % 8);
    }
};
// ANCHOR_END: tile

// What one thread does with the tiles: fragments, and sums.
template <typename T>
struct Multiplier {
    static constexpr int TM = T::TM, TN = T::TN, BK = T::BK;
    static constexpr int ROW_BIT = BK == 16 ? 2 : 4;                      // of a swizzle: rows i and i + 1 differ
    static constexpr int PLACES = T::SLICES == 1 ? ROW_BIT : BK / WIDTH;  // that need an address
    int slice, row, col;     // this thread's rows: row + LANES_M * i; columns: col + LANES_N * WIDTH * q .. + WIDTH
    unsigned a_at[PLACES];   // where the fragments begin in the tiles in use
    unsigned b_at;
    float a_frag[2][TM][WIDTH];  // four k of each row, and the next four
    float b_frag[2][TN];         // one k of each column, and the next
    float acc[TM][TN];

    // ANCHOR: map
    __device__ __forceinline__ Multiplier(int thread, unsigned tiles)
    {
        const int warp = thread / WARP_SIZE % (T::SLICE_THREADS / WARP_SIZE), lane = thread % WARP_SIZE;
        slice = T::SLICES == 1 ? 0 : thread / T::SLICE_THREADS;
        row = warp / (T::BN / T::WARP_N) * T::WARP_M + lane / T::LANES_N;
        col = warp % (T::BN / T::WARP_N) * T::WARP_N + lane % T::LANES_N * WIDTH;
        #pragma unroll
        for (int place = 0; place < PLACES; ++place) {
            const int at = row * BK + (T::swizzle(row, place) ^ slice * T::CHUNKS) * WIDTH;
            a_at[place] = opaque(tiles + at * sizeof(float));
        }
        b_at = opaque(tiles + T::A_BYTES + (slice * T::SLICE_K * T::BN + col) * sizeof(float));
    }
    // ANCHOR_END: map

    // The compiler may not compute the value again where it is used.
    static __device__ __forceinline__ unsigned opaque(unsigned v)
    {
        asm volatile("mov.u32 %0, %0;" : "+r"(v));
        return v;
    }

    __device__ __forceinline__ void clear()
    {
        #pragma unroll
        for (int i = 0; i < TM; ++i) {
            #pragma unroll
            for (int j = 0; j < TN; ++j) acc[i][j] = 0.0f;
        }
    }

    // Four k of row i: float4 `chunk` of this slice's part of the row.
    __device__ __forceinline__ void load_a(int chunk, int i)
    {
        const int place = chunk ^ (i % 2 * ROW_BIT);
        const int beyond = place / PLACES * PLACES * WIDTH + i * T::LANES_M * BK;
        load4_shared(a_frag[chunk % 2][i], a_at[place % PLACES] + beyond * sizeof(float));
    }

    // Four columns of one k of this slice.
    __device__ __forceinline__ void load_b(int k, int q)
    {
        float (&to)[WIDTH] = *reinterpret_cast<float (*)[WIDTH]>(&b_frag[k % 2][q * WIDTH]);
        load4_shared(to, b_at + (k * T::BN + q * T::LANES_N * WIDTH) * sizeof(float));
    }

    // The fragments of the first k.
    __device__ __forceinline__ void begin()
    {
        #pragma unroll
        for (int i = 0; i < TM; ++i) load_a(0, i);
        #pragma unroll
        for (int q = 0; q < TN / WIDTH; ++q) load_b(0, q);
    }

    // ANCHOR: multiply
    // acc += a_tile * b_tile for this slice's k. Each load stands between multiply-adds: those of B one k before
    // their use, those of A four k. The last ones read the tiles that follow: `next` waits for these, and says how
    // far they lie from here; `release` is called when all of these tiles have been read.
    template <typename Next, typename Release>
    __device__ __forceinline__ void multiply(Next next, Release release)
    {
        int distance = 0;
        #pragma unroll
        for (int k = 0; k < T::SLICE_K; ++k) {
            if (k == T::SLICE_K - WIDTH) {
                distance = next();
                #pragma unroll
                for (int place = 0; place < PLACES; ++place) a_at[place] += distance;
            }
            if (k == T::SLICE_K - 1) {
                b_at += distance;
                release();
            }
            constexpr int A_LOADS = TM / WIDTH;  // of the next four k, in each k
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                if (i < TN / WIDTH) load_b((k + 1) % T::SLICE_K, i);
                if (i >= TM - A_LOADS) load_a((k / WIDTH + 1) % T::CHUNKS, k % WIDTH * A_LOADS + i - (TM - A_LOADS));
                #pragma unroll
                for (int step = 0; step < TN; ++step) {
                    const int j = i % 2 == 0 ? step : TN - 1 - step;
                    multiply_add(acc[i][j], a_frag[k / WIDTH % 2][i][k % WIDTH], b_frag[k % 2][j]);
                }
            }
        }
    }
    // ANCHOR_END: multiply

    // ANCHOR: exchange
    // alpha * the sums of all slices, for the rows that this thread brings to C: a part of each thread's rows for each
    // slice. `sync` waits for all threads that multiply.
    template <typename Sync>
    __device__ __forceinline__ void exchange(float4 (&sums)[T::OWN_ROWS][TN / WIDTH], float4* shared, int thread,
                                             float alpha, Sync sync)
    {
        constexpr int QUADS = TN / WIDTH, OTHERS = T::SLICES - 1;
        const int place = thread % T::SLICE_THREADS;
        // Where float4 q of row i lies that slice `giver` has for slice `owner`: threads side by side.
        auto at = [&](int owner, int giver, int i, int q) {
            const int other = giver < owner ? giver : giver - 1;
            return (((owner * OTHERS + other) * T::OWN_ROWS + i) * QUADS + q) * T::SLICE_THREADS + place;
        };
        if (OTHERS > 0) sync();  // the last reader of what lies here is done
        #pragma unroll
        for (int owner = 0; owner < T::SLICES; ++owner) {
            #pragma unroll
            for (int i = 0; i < T::OWN_ROWS; ++i) {
                #pragma unroll
                for (int q = 0; q < QUADS; ++q) {
                    const float* v = &acc[owner * T::OWN_ROWS + i][q * WIDTH];
                    const float4 scaled = make_float4(alpha * v[0], alpha * v[1], alpha * v[2], alpha * v[3]);
                    if (owner == 0 || owner == slice) sums[i][q] = scaled;
                    if (owner != slice) shared[at(owner, slice, i, q)] = scaled;
                }
            }
        }
        if (OTHERS == 0) return;
        sync();
        #pragma unroll
        for (int step = 1; step < T::SLICES; ++step) {
            const int giver = (slice + step) % T::SLICES;
            #pragma unroll
            for (int i = 0; i < T::OWN_ROWS; ++i) {
                #pragma unroll
                for (int q = 0; q < QUADS; ++q) {
                    const float4 more = shared[at(slice, giver, i, q)];
                    float4& sum = sums[i][q];
                    sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
                }
            }
        }
    }
    // ANCHOR_END: exchange

    // sums += beta * C[..][..] for the rows that this thread brings. Loads go out BATCH at a time: each waits for
    // memory, and all of a batch wait together.
    __device__ __forceinline__ void add_old(float4 (&sums)[T::OWN_ROWS][TN / WIDTH], const float* C, int M, int N,
                                            int block_row, int block_col, float beta) const
    {
        constexpr int ROW = TN / WIDTH, QUADS = T::OWN_ROWS * ROW, BATCH = QUADS < 8 ? QUADS : 8;
        #pragma unroll
        for (int first = 0; first < QUADS; first += BATCH) {
            float4 old[BATCH];
            #pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                const int r = block_row + own_row((first + j) / ROW), c = block_col + own_col((first + j) % ROW);
                old[j] = load4_or_zero(C, M, N, r, c);
            }
            #pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                float4& v = sums[(first + j) / ROW][(first + j) % ROW];
                v = make_float4(v.x + beta * old[j].x, v.y + beta * old[j].y, v.z + beta * old[j].z,
                                v.w + beta * old[j].w);
            }
        }
    }

    // C[..][..] = sums for the rows that this thread brings.
    __device__ __forceinline__ void store(float* C, int M, int N, int block_row, int block_col,
                                          const float4 (&sums)[T::OWN_ROWS][TN / WIDTH]) const
    {
        #pragma unroll
        for (int i = 0; i < T::OWN_ROWS; ++i) {
            #pragma unroll
            for (int q = 0; q < TN / WIDTH; ++q)
                store4_if_inside(C, M, N, block_row + own_row(i), block_col + own_col(q), sums[i][q]);
        }
    }

    // Where they lie in the block's tile.
    __device__ __forceinline__ int own_row(int i) const { return row + (slice * T::OWN_ROWS + i) * T::LANES_M; }
    __device__ __forceinline__ int own_col(int q) const { return col + q * T::LANES_N * WIDTH; }
};
