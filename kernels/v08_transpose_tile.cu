// v08_transpose_tile.cu: by way of a tile in shared memory, so that both global sides run along rows.
//
// Changed since coalesced: a warp reads a row of in, and after the barrier writes a row of out. The turn
// happens in the tile, which is written by rows and read by columns. A load and a store touch 4 sectors each.
// The price: a column of the tile lies in one bank. Each read of it takes 32 wavefronts instead of 1, which
// can cost more than coalesced_writes lost. The next kernel takes that away.
// Any rows, cols. Launch: TILE * TILE threads, one block per TILE x TILE elements of in.

constexpr int TILE = 32;  // edge of the tile; one warp spans one row of it

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(TILE * TILE)
transpose_tile(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];

    const int thread_row = threadIdx.x / TILE;  // same for all 32 lanes
    const int thread_col = threadIdx.x % TILE;  // the lane

    // ANCHOR: load
    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;
    if (row < rows && col < cols) {
        tile[thread_row][thread_col] = in[row * cols + col];  // in[row][col]: 32 neighbours
    }
    __syncthreads();  // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    // Tile (y, x) of in is tile (x, y) of out: the corners swap, and so do the places inside.
    // SOLUTION(v08): find this thread's element of out, lanes along a row of out, and take it from the tile
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    if (out_row < cols && out_col < rows) {
        out[out_row * rows + out_col] = tile[thread_col][thread_row];  // a column of the tile: one bank
    }
    // SOLUTION_END
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
