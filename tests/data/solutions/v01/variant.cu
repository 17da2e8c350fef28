// v01.variant: neighbouring lanes load neighbouring elements, whatever the shape of the block.
//
// Threads are numbered with x running fastest. Where B is stored transposed, the lanes of a warp own neighbouring rows
// of C, otherwise neighbouring columns.
// Any M, N, K. Launch: BX x BY threads, one block per ROWS x COLS of C.
#include "common.cuh"

// DRAWN
constexpr int BX = 4, BY = 64, COLS = 32, ROWS = 8;
using Element = float;
constexpr bool A_TURNED = false, B_TURNED = false;
// DRAWN_END
static_assert(BX * BY == ROWS * COLS, "a thread for each element");

extern "C" __global__ void __launch_bounds__(BX * BY)
gemm_variant(int M, int N, int K, const Element* A, const Element* B, Element* C)
{
    const int thread = threadIdx.y * BX + threadIdx.x;
    const int row = blockIdx.y * ROWS + (B_TURNED ? thread % ROWS : thread / COLS);
    const int col = blockIdx.x * COLS + (B_TURNED ? thread / ROWS : thread % COLS);
    if (row >= M || col >= N) return;

    Element acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += A[A_TURNED ? k * M + row : row * K + k] * B[B_TURNED ? col * K + k : k * N + col];
    }
    C[row * N + col] = acc;
}
