// v12_order.cuh: which tile of C is the next.
#pragma once

// ANCHOR: order
// Tiles in an order in which those that run at a time share rows of A and columns of B, so that these stay in L2: bands
// of BAND rows of tiles, and in a band column after column. `tall` x `wide` tiles.
struct Order {
    static constexpr int BAND = 8;
    int tall, wide;

    __device__ __forceinline__ int count() const { return tall * wide; }

    // Row and column, in tiles, of tile `i`.
    __device__ __forceinline__ int2 place(int i) const
    {
        const int first = i / (BAND * wide) * BAND, in_band = i % (BAND * wide);
        const int rows = min(BAND, tall - first);  // of the last band, what is left
        return make_int2(first + in_band % rows, in_band / rows);
    }
};
// ANCHOR_END: order
