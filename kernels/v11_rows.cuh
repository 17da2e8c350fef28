// v11_rows.cuh: the way of the sums to C whose rows start anywhere: the lanes of a warp side by side.
#pragma once
#include "v11_tile.cuh"

// v[i] = v[i ^ x], where threads differ in x: registers have no index.
__device__ __forceinline__ void reorder(float (&v)[WIDTH], int x)
{
    #pragma unroll
    for (int bit = 1; bit < WIDTH; bit *= 2) {
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            if (i & bit) continue;
            const float low = v[i], high = v[i + bit];
            v[i] = x & bit ? high : low;
            v[i + bit] = x & bit ? low : high;
        }
    }
}

// A Tile whose sums go to C so.
template <typename Of>
struct Rows : Of {};

// ANCHOR: store
// A thread has four columns side by side. Stored one by one, where rows are not float4s, they would be a warp's 32
// floats 16 bytes apart, each sector of C written four times. So lanes exchange them: a store has 32 neighbours.
template <typename Of>
struct Multiplier<Rows<Of>> : Multiplier<Of> {
    using Multiplier<Of>::Multiplier;

    __device__ __forceinline__ void store(float* C, int M, int N, int block_row, int block_col,
                                          const float4 (&sums)[Of::OWN_ROWS][Of::TN / WIDTH]) const
    {
        if (N % WIDTH == 0) return Multiplier<Of>::store(C, M, N, block_row, block_col, sums);
        constexpr unsigned ALL_LANES = 0xffffffff;
        static_assert(Of::LANES_M == WIDTH, "the float4s of a warp are four rows of 32 columns");
        // `opaque`: nothing of it is computed before the main loop, which has no register for it.
        const unsigned own_row = this->opaque(this->own_row(0)), own_col = this->opaque(this->own_col(0));
        const int lane_row = own_row % WIDTH, lane_col = own_col % WARP_SIZE;
        const int lane = (lane_row * WARP_SIZE + lane_col) / static_cast<unsigned>(WIDTH);
        const int row = block_row + own_row - lane_row, rows = M - row;
        const int col = block_col + own_col - lane_col + lane, cols = N - col;
        const long long pitch = N;
        float* to = C + row * pitch + col;
        __syncwarp();  // reads of the old C done -> other lanes may write to it
        #pragma unroll
        for (int i = 0; i < Of::OWN_ROWS; ++i) {
            #pragma unroll
            for (int q = 0; q < Of::TN / WIDTH; ++q) {
                float v[WIDTH] = {sums[i][q].x, sums[i][q].y, sums[i][q].z, sums[i][q].w};
                // In turn s a lane gets its column of row s ^ lane % 4: all lanes send one float, and get one.
                reorder(v, lane_row);
                #pragma unroll
                for (int s = 0; s < WIDTH; ++s)
                    v[s] = __shfl_sync(ALL_LANES, v[s], (s ^ lane % WIDTH) * Of::LANES_N + lane / WIDTH);
                reorder(v, lane);
                #pragma unroll
                for (int r = 0; r < WIDTH; ++r)
                    if (i * WIDTH + r < rows && q * WARP_SIZE < cols) to[r * pitch + q * WARP_SIZE] = v[r];
            }
            to += WIDTH * pitch;
        }
    }
};
// ANCHOR_END: store
