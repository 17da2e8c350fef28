// v08_no_barrier.cu: a wrong kernel. v08 without its barrier.
constexpr int TILE = 32;  // edge of the tile; one warp spans one row of it

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(TILE * TILE)
transpose_tile(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];

    const int thread_row = threadIdx.x / TILE;  // same for all 32 lanes
    const int thread_col = threadIdx.x % TILE;  // the lane

    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;
    if (row < rows && col < cols) {
        tile[thread_row][thread_col] = in[row * cols + col];  // in[row][col]: 32 neighbours
    }

    // Tile (y, x) of in is tile (x, y) of out: the corners swap, and so do the places inside.
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    if (out_row < cols && out_col < rows) {
        out[out_row * rows + out_col] = tile[thread_col][thread_row];  // a column of the tile: one bank
    }
}
// ANCHOR_END: kernel
