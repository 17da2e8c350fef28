// v08_transpose_rectangular.cu: the block is 32 x 8 threads, the tile stays 32 x 32: four elements per thread.
//
// Changed since swizzled: a thread starts four loads before it waits for the first. An SM holds as many
// threads as before, so four times as many bytes are on their way; and it holds eight tiles instead of two:
// while one waits at its barrier, seven others move.
// Unchanged: the tile and its swizzle, sectors and wavefronts.
// Any rows, cols. Launch: TILE * ROWS threads, one block per TILE x TILE elements of in.
#include "common.cuh"

constexpr int TILE = 32;  // edge of the tile; one warp spans one row of it
constexpr int ROWS = 8;   // rows of the tile that the block moves at once
static_assert((TILE & (TILE - 1)) == 0, "c ^ r must stay inside the row");
static_assert(TILE % ROWS == 0, "every thread moves equally many elements");

// ANCHOR: kernel
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

    // ANCHOR: load
    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;
    // SOLUTION(v08): load all of this thread's elements, ROWS rows apart, before storing the first to the tile
    float v[TILE / ROWS];
    #pragma unroll
    for (int i = 0; i < TILE / ROWS; ++i) v[i] = load_or_zero(in, rows, cols, row + i * ROWS, col);
    #pragma unroll
    for (int i = 0; i < TILE / ROWS; ++i) {
        tile[thread_row + i * ROWS][swizzled(thread_row + i * ROWS, thread_col)] = v[i];
    }
    // SOLUTION_END
    __syncthreads();  // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    #pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        const float from_tile = tile[thread_col][swizzled(thread_col, thread_row + i)];
        store_if_inside(out, cols, rows, out_row + i, out_col, from_tile);
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
