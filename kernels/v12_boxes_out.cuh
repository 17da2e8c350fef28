// v12_boxes_out.cuh: sums that leave as boxes: through shared memory, by copies that need no threads (TMA).
#pragma once
#include "v12_tiles.cuh"

// ANCHOR: inline
// Four matrices of 8 x 8 numbers of 16 bits to shared memory: lane i names row i % 8 of matrix i / 8.
__device__ __forceinline__ void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Starts a copy of shared memory to the map's box at column x, row y, as a group. What lies outside is left out.
__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
                 "cp.async.bulk.commit_group;"
                 :: "l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
}

// Until at most GROUPS of this thread's copies still read shared memory.
template <int GROUPS>
__device__ __forceinline__ void wait_stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(GROUPS) : "memory");
}

// Until all threads of this thread's warpgroup are here.
__device__ __forceinline__ void sync_group()
{
    asm volatile("bar.sync %0, %1;" :: "r"(1 + threadIdx.x / GROUP), "n"(GROUP) : "memory");
}

// Until all threads that multiply are here.
template <typename T>
__device__ __forceinline__ void sync_multipliers()
{
    asm volatile("bar.sync %0, %1;" :: "n"(1 + T::GROUPS), "n"(T::MULTIPLIERS) : "memory");
}
// ANCHOR_END: inline

// ANCHOR: out
// A box of C: 64 rows of 128 bytes. Each warpgroup has BOXES: one is filled while others are copied.
constexpr int BOX_OF_C = 64 * 128;

template <typename T, typename Out, int BOXES>
struct BoxesOut {
    static constexpr int COLS = T::ROW_BYTES / sizeof(Out), BYTES = T::GROUP_ROWS * T::ROW_BYTES;
    static constexpr int SUMS = T::SUMS * COLS / T::BN;  // of a thread, in a box
    static_assert(BYTES == BOX_OF_C, "a warpgroup fills it");
    static_assert(T::BN % COLS == 0, "whole boxes: past them lies another block's tile");

    const TensorMap& map;
    unsigned own;  // where the boxes of this thread's warpgroup lie
    int next = 0;  // of them, to fill

    __device__ __forceinline__ BoxesOut(const TensorMap& map_, unsigned boxes)
        : map(map_), own(boxes + threadIdx.x / GROUP * BOXES * BYTES)
    {
    }

    // Where 16 bytes of a row of a box lie: swizzled as the copy reads them.
    static __device__ __forceinline__ unsigned place(int row, int piece)
    {
        return row * T::ROW_BYTES + (piece ^ row % 8) * 16;
    }

    // This warp's 16 rows of a box. A pair of sums is one word of a matrix.
    static __device__ __forceinline__ void fill(unsigned box, float alpha, const float* acc, Bf16)
    {
        const int warp = threadIdx.x % GROUP / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
        #pragma unroll
        for (int i = 0; i < SUMS; i += 8) {  // 16 columns
            const float* v = acc + i;
            store_matrices(box + place(warp * 16 + lane % 16, i / 4 + lane / 16), pack(alpha * v[0], alpha * v[1]),
                           pack(alpha * v[2], alpha * v[3]), pack(alpha * v[4], alpha * v[5]),
                           pack(alpha * v[6], alpha * v[7]));
        }
    }

    // Of two rows that a half of the warp stores together, one begins 16 columns further: other banks.
    static __device__ __forceinline__ void fill(unsigned box, float alpha, const float* acc, float)
    {
        constexpr int FURTHER = 8;  // sums of a thread in 16 columns
        const int warp = threadIdx.x % GROUP / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
        const bool is_odd = lane / 4 % 2;
        #pragma unroll
        for (int i = 0; i < SUMS; i += 2) {
            const int row = warp * 16 + lane / 4 + i / 2 % 2 * 8;
            const int piece = (is_odd ? i ^ FURTHER : i) / 4 * 2 + lane % 4 / 2;
            const float first = is_odd ? acc[i ^ FURTHER] : acc[i];
            const float second = is_odd ? acc[(i ^ FURTHER) + 1] : acc[i + 1];
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};"
                         :: "r"(box + place(row, piece) + lane % 2 * 8), "f"(alpha * first), "f"(alpha * second)
                         : "memory");
        }
    }

    // 64 rows of C from `row` on, box after box.
    __device__ __forceinline__ void store(int row, int block_col, float alpha, const float (&acc)[T::SUMS])
    {
        const bool is_first = threadIdx.x % GROUP == 0;
        #pragma unroll
        for (int i = 0; i < T::BN / COLS; ++i) {
            const unsigned box = own + next * BYTES;
            if (is_first) wait_stores_read<BOXES - 1>();
            sync_group();  // the last copy from this box has read it -> it may be filled
            fill(box, alpha, acc + i * SUMS, Out());
            publish_shared();
            sync_group();  // it is filled -> it may be copied
            if (is_first) store_box(map, block_col + i * COLS, row, box);
            next = (next + 1) % BOXES;
        }
    }
};
// ANCHOR_END: out
