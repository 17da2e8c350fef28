// v08.flat: transposes by way of a tile of 16 rows and 64 columns.
//
// A warp reads half a row of the tile, 128 bytes of in, and writes two rows of out, 64 bytes of each: 4 sectors
// either way. Its 32 reads of the tile go down two neighbouring columns of 16 elements. With one column of
// padding, element r of one and r - 1 of the other would share a bank; rows 66 floats apart leave the odd banks
// to the second column.
// Any rows, cols. Launch: THREADS threads, one block per ROWS x COLS elements of in.
#include "common.cuh"

constexpr int ROWS = 16, COLS = 64;  // tile of in owned by one block
constexpr int THREADS = 256;
constexpr int PAD = 2;  // floats after each row of the tile

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
transpose_flat(int rows, int cols, const float* in, float* out)
{
    // SOLUTION(v08): pad the rows of the tile so that a warp reads 32 banks
    __shared__ float tile[ROWS][COLS + PAD];
    // STARTER| __shared__ float tile[ROWS][COLS];
    // SOLUTION_END

    // SOLUTION(v08): load the tile along rows of in, and store it along rows of out
    #pragma unroll
    for (int t = threadIdx.x; t < ROWS * COLS; t += THREADS) {
        const int r = t / COLS, c = t % COLS;  // neighbouring lanes: neighbouring columns of in
        tile[r][c] = load_or_zero(in, rows, cols, blockIdx.y * ROWS + r, blockIdx.x * COLS + c);
    }
    __syncthreads();  // writes to tile done -> reads may start

    #pragma unroll
    for (int t = threadIdx.x; t < ROWS * COLS; t += THREADS) {
        const int r = t % ROWS, c = t / ROWS;  // neighbouring lanes: neighbouring columns of out
        store_if_inside(out, cols, rows, blockIdx.x * COLS + c, blockIdx.y * ROWS + r, tile[r][c]);
    }
    // STARTER| for (int t = threadIdx.x; t < ROWS * COLS; t += THREADS) {
    // STARTER|     const int r = t / COLS, c = t % COLS;
    // STARTER|     const float v = load_or_zero(in, rows, cols, blockIdx.y * ROWS + r, blockIdx.x * COLS + c);
    // STARTER|     store_if_inside(out, cols, rows, blockIdx.x * COLS + c, blockIdx.y * ROWS + r, v);
    // STARTER| }
    // SOLUTION_END
}
// ANCHOR_END: kernel
