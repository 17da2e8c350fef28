// v00.turn: the transpose, one element for each thread.
//
// Each thread moves one element. Rows and columns change places, so the strides do too: a row of in has cols elements,
// and a row of out has rows of them. It is right, and no step asks for it; step v08 shows what it costs.
// Any rows, cols. Launch: COLS x ROWS threads, one block per ROWS x COLS elements of in.
#include "common.cuh"

constexpr int ROWS = 8, COLS = 32;  // tile of in owned by one block

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(ROWS * COLS)
transpose_turn(int rows, int cols, const float* in, float* out)
{
    const int row = blockIdx.y * ROWS + threadIdx.y;  // of in
    const int col = blockIdx.x * COLS + threadIdx.x;
    // SOLUTION(v00): move the element of in at row, col to its place in out, if there is one
    if (row < rows && col < cols) {
        out[col * rows + row] = in[row * cols + col];
    }
    // SOLUTION_END
}
// ANCHOR_END: kernel
