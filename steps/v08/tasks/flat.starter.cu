// v08.flat, a transfer task of 30 minutes: A tile of 16 × 64.
//
// Transpose a matrix of floats with blocks of 256 threads that own 16 rows and 64 columns of in.
//
// Judged: right on every shape with all checks clean; at most 0.1875 sectors for each element, read
// and written; no excess wavefront. One column of padding, as in v08, is wrong here.
//
// What is missing is marked TODO. Check it with: cargo xtask check v08.flat
//
// Any rows, cols. Launch: THREADS threads, one block per ROWS x COLS elements of in.
#include "common.cuh"

constexpr int ROWS = 16, COLS = 64;  // tile of in owned by one block
constexpr int THREADS = 256;
constexpr int PAD = 2;  // floats after each row of the tile

extern "C" __global__ void __launch_bounds__(THREADS)
transpose_flat(int rows, int cols, const float* in, float* out)
{
    // TODO(v08): pad the rows of the tile so that a warp reads 32 banks
    __shared__ float tile[ROWS][COLS];

    // TODO(v08): load the tile along rows of in, and store it along rows of out
    for (int t = threadIdx.x; t < ROWS * COLS; t += THREADS) {
        const int r = t / COLS, c = t % COLS;
        const float v = load_or_zero(in, rows, cols, blockIdx.y * ROWS + r, blockIdx.x * COLS + c);
        store_if_inside(out, cols, rows, blockIdx.x * COLS + c, blockIdx.y * ROWS + r, v);
    }
}
