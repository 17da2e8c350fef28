// v11_schedule.cuh: which steps of which tiles a block does, and how blocks that share a tile put it together.
// After Osama, Merrill and others, "Stream-K" (2023).
#pragma once
#include "v11_tile.cuh"

// ANCHOR: schedule
// What a block does, piece after piece: `count` steps, BK of k each, of a tile of C, from step `first` on.
struct Piece {
    int tile, first, count;
};

// Tiles from `whole` on are shared out by steps, all blocks alike, where tiles begin and end or not. Then each block
// takes whole tiles, gridDim.x apart. A block goes through its shared steps tile by tile from the last to the first:
// where its last tile goes on in the next block, it gives its sums early, and that block, which has the end of the
// tile, needs them late. No block waits for one with a higher number: blocks that start in order all come to an end.
struct Schedule {
    int steps, whole;  // steps of a tile; tiles that are not shared
    int begin, end;    // what is left of this block's shared steps
    int tile;          // its next whole tile

    __device__ __forceinline__ Schedule(int steps_, int tiles, int whole_)
        : steps(steps_), whole(whole_), tile(blockIdx.x)
    {
        begin = share(blockIdx.x, tiles);
        end = share(blockIdx.x + 1, tiles);
    }

    // The first shared step of a block.
    __device__ __forceinline__ int share(int block, int tiles) const
    {
        const int total = (tiles - whole) * steps, blocks = gridDim.x;
        return block * (total / blocks) + min(block, total % blocks);
    }

    __device__ __forceinline__ bool more() const { return begin < end || tile < whole; }

    __device__ __forceinline__ Piece next()
    {
        if (begin < end) {
            const int shared = (end - 1) / steps, first = max(begin - shared * steps, 0);
            const Piece piece = {whole + shared, first, end - shared * steps - first};
            end -= piece.count;
            return piece;
        }
        tile += gridDim.x;
        return {tile - static_cast<int>(gridDim.x), 0, steps};
    }

    __device__ __forceinline__ bool has_end(Piece piece) const { return piece.first + piece.count == steps; }
};
// ANCHOR_END: schedule

// Where sums wait for the block that has the end of their tile. A launch uses it alone: launches of kernels with shared
// tiles follow each other, in one stream.
constexpr int MOST_BLOCKS = 1024, MOST_FLOAT4S = 160 * 8192;
__device__ float4 given_sums[MOST_FLOAT4S];
__device__ int is_given[MOST_BLOCKS];

// Past the first-level cache, in the order in which loads are written.
__device__ __forceinline__ float4 load4_given(const float4* p)
{
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p) : "memory");
    return v;
}

// ANCHOR: give
// The sums of a piece without the end of its tile. `sync` waits for all threads that multiply.
template <typename T, typename Sync>
__device__ __forceinline__ void give_sums(const float4 (&sums)[T::OWN_ROWS][T::TN / WIDTH], Sync sync)
{
    constexpr int ROW = T::TN / WIDTH, QUADS = T::OWN_ROWS * ROW;
    float4* to = given_sums + blockIdx.x * QUADS * T::THREADS + threadIdx.x;
    #pragma unroll
    for (int q = 0; q < QUADS; ++q) __stcg(to + q * T::THREADS, sums[q / ROW][q % ROW]);
    __threadfence();
    sync();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(is_given + blockIdx.x) : "memory");
}

// Adds what the blocks before this one have of the same tile: each gave one piece, its first.
template <typename T, typename Sync>
__device__ __forceinline__ void add_given(float4 (&sums)[T::OWN_ROWS][T::TN / WIDTH], const Schedule& schedule,
                                          int tile, int tiles, Sync sync)
{
    constexpr int ROW = T::TN / WIDTH, QUADS = T::OWN_ROWS * ROW, BATCH = QUADS < 16 ? QUADS : 16;
    const int tile_begin = (tile - schedule.whole) * schedule.steps;
    for (int other = blockIdx.x - 1; schedule.share(other + 1, tiles) > tile_begin; --other) {
        if (threadIdx.x == 0) {
            int given;
            do {
                asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(given) : "l"(is_given + other) : "memory");
            } while (!given);
            is_given[other] = 0;  // for the next launch
        }
        sync();
        const float4* from = given_sums + other * QUADS * T::THREADS + threadIdx.x;
        #pragma unroll
        for (int first = 0; first < QUADS; first += BATCH) {  // a batch waits for memory once
            float4 more[BATCH];
            #pragma unroll
            for (int j = 0; j < BATCH; ++j) more[j] = load4_given(from + (first + j) * T::THREADS);
            #pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                float4& sum = sums[(first + j) / ROW][(first + j) % ROW];
                sum = make_float4(sum.x + more[j].x, sum.y + more[j].y, sum.z + more[j].z, sum.w + more[j].w);
            }
        }
    }
}
// ANCHOR_END: give
