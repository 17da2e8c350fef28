// v08_transpose_rectangular.cu: the block is 32 x 8 threads, the tile stays 32 x 32: four elements per thread.
//
// What changed: a thread starts four loads before it waits for the first of them, and index arithmetic and
// barrier are shared by four elements. Blocks of 256 threads also wait for each other in smaller groups.
// Unchanged: the tile and its swizzle, the sectors and the wavefronts.
// Launch: 256 threads, one block per 32 x 32 elements of in.

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
    // SOLUTION(v08): bring in this thread's four elements, ROWS rows apart
    for (int i = 0; i < TILE; i += ROWS) {
        if (row + i < rows && col < cols) {
            tile[thread_row + i][swizzled(thread_row + i, thread_col)] = in[(row + i) * cols + col];
        }
    }
    // SOLUTION_END
    __syncthreads();  // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col;
    for (int i = 0; i < TILE; i += ROWS) {
        if (out_row + i < cols && out_col < rows) {
            out[(out_row + i) * rows + out_col] = tile[thread_col][swizzled(thread_col, thread_row + i)];
        }
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
