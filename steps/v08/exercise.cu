// v08, a rebuild task of 35 minutes: layouts: a tile turns rows into columns.
//
// A thread moves four elements of a 32 x 32 tile, which is permuted so that no bank is met twice.
// Write how the tile is filled, roughly 6 lines.
//
// What is missing is marked TODO. Check it with: cargo xtask check v08
//
// Any rows, cols. Launch: TILE * ROWS threads, one block per TILE x TILE elements of in.
#include "common.cuh"

constexpr int TILE = 32;  // edge of the tile; one warp spans one row of it
constexpr int ROWS = 8;   // rows of the tile that the block moves at once
static_assert((TILE & (TILE - 1)) == 0, "c ^ r must stay inside the row");
static_assert(TILE % ROWS == 0, "every thread moves equally many elements");

// The column of the tile in which element (r, c) lies.
__device__ __forceinline__ int swizzled(int r, int c)
{
    return c ^ r;
}

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_rectangular(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];

    const int thread_row = threadIdx.x / TILE;  // same for all 32 lanes
    const int thread_col = threadIdx.x % TILE;  // the lane

    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;
    // TODO(v08): load all of this thread's elements, ROWS rows apart, before storing the first to the tile
    __syncthreads();  // writes to tile done -> reads may start

    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    #pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        const float from_tile = tile[thread_col][swizzled(thread_col, thread_row + i)];
        store_if_inside(out, cols, rows, out_row + i, out_col, from_tile);
    }
}
