// v08_transpose_swizzled.cu: the tile is square again, and each of its rows is shuffled in its own way.
//
// Changed since padded: element (r, c) lies in column c ^ r of the tile. Along a row c runs and r stays, along
// a column r runs and c stays: either way c ^ r takes 32 different values, so both sides take 1 wavefront.
// No word is wasted, and rows stay on 128-byte boundaries, which vectors will want.
// Unchanged: the counters, and so the speed.
// Any rows, cols. Launch: TILE * TILE threads, one block per TILE x TILE elements of in.

constexpr int TILE = 32;  // edge of the tile; one warp spans one row of it
static_assert((TILE & (TILE - 1)) == 0, "c ^ r must stay inside the row");

// ANCHOR: kernel
// ANCHOR: swizzle
// The column of the tile in which element (r, c) lies.
__device__ __forceinline__ int swizzled(int r, int c)
{
    // SOLUTION(v08): permute the columns of each row so that a column of elements meets 32 different banks
    return c ^ r;
    // STARTER| return c;
    // SOLUTION_END
}
// ANCHOR_END: swizzle

extern "C" __global__ void __launch_bounds__(TILE * TILE)
transpose_swizzled(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];

    const int thread_row = threadIdx.x / TILE;  // same for all 32 lanes
    const int thread_col = threadIdx.x % TILE;  // the lane

    // ANCHOR: load
    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;
    if (row < rows && col < cols) {
        tile[thread_row][swizzled(thread_row, thread_col)] = in[row * cols + col];  // 32 neighbours
    }
    __syncthreads();  // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    if (out_row < cols && out_col < rows) {
        out[out_row * rows + out_col] = tile[thread_col][swizzled(thread_col, thread_row)];
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
