// v08_transpose_padded.cu: the tile has one column more than it needs.
//
// Changed since tile: rows of the tile lie 33 words apart instead of 32, so the 32 elements of a column lie in
// 32 different banks. A read of it takes 1 wavefront instead of 32. The 33rd column holds nothing.
// Unchanged: everything else.
// Any rows, cols. Launch: TILE * TILE threads, one block per TILE x TILE elements of in.

constexpr int TILE = 32;  // edge of the tile; one warp spans one row of it
// SOLUTION(v08): widen the rows of the tile so that the elements of a column lie in different banks
constexpr int PAD = 1;    // words between the rows of the tile that nobody uses
// STARTER| constexpr int PAD = 0;    // words between the rows of the tile that nobody uses
// SOLUTION_END

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(TILE * TILE)
transpose_padded(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE + PAD];

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
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    if (out_row < cols && out_col < rows) {
        out[out_row * rows + out_col] = tile[thread_col][thread_row];  // bank (33 lane + thread_row) % 32
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
