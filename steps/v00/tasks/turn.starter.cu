// v00.turn, a transfer task of 10 minutes: Your first kernel: turn a matrix.
//
// Turn a matrix: out[col][row] = in[row][col]. A block of 32 x 8 threads owns 32 columns and 8 rows
// of in, and each thread moves one element. Both matrices are row-major: element (row, col) of in
// lies at in[row * cols + col], and a row of out has as many elements as in has rows. Write what a
// thread does, roughly 3 lines.
//
// Judged: right on every shape, with all checks clean.
//
// What is missing is marked TODO. Check it with: cargo xtask check v00.turn
//
// Any rows, cols. Launch: COLS x ROWS threads, one block per ROWS x COLS elements of in.
#include "common.cuh"

constexpr int ROWS = 8, COLS = 32;  // tile of in owned by one block

extern "C" __global__ void __launch_bounds__(ROWS * COLS)
transpose_turn(int rows, int cols, const float* in, float* out)
{
    const int row = blockIdx.y * ROWS + threadIdx.y;  // of in
    const int col = blockIdx.x * COLS + threadIdx.x;
    // TODO(v00): move the element of in at row, col to its place in out, if there is one
}
