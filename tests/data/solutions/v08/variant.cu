// v08.variant: transposes by way of a tile of any shape, of elements of 4 or of 8 bytes.
//
// A wavefront serves as many lanes as have 128 bytes together: 32 of float, 16 of double. Written along out, they read
// LANES / ROWS neighbouring columns of the tile. Rows that are LANES / ROWS elements longer than a multiple of LANES
// leave room for that many; where a column is longer than LANES, one element is enough.
// Any rows, cols. Launch: THREADS threads, one block per ROWS x COLS elements of in.
#include "common.cuh"

// DRAWN
constexpr int COLS = 128, ROWS = 8, THREADS = 256;
using Element = float;
// DRAWN_END
constexpr int LANES = 128 / sizeof(Element);
constexpr int PAD = ROWS < LANES ? LANES / ROWS : 1;  // elements after each row of the tile
static_assert(COLS % LANES == 0, "lanes that fill the tile stay in a row of it");

extern "C" __global__ void __launch_bounds__(THREADS)
transpose_variant(int rows, int cols, const Element* in, Element* out)
{
    __shared__ Element tile[ROWS][COLS + PAD];

    for (int t = threadIdx.x; t < ROWS * COLS; t += THREADS) {
        const int r = t / COLS, c = t % COLS;  // neighbouring lanes: neighbouring columns of in
        tile[r][c] = load_or_zero(in, rows, cols, blockIdx.y * ROWS + r, blockIdx.x * COLS + c);
    }
    __syncthreads();  // writes to tile done -> reads may start

    for (int t = threadIdx.x; t < ROWS * COLS; t += THREADS) {
        const int r = t % ROWS, c = t / ROWS;  // neighbouring lanes: neighbouring columns of out
        store_if_inside(out, cols, rows, blockIdx.x * COLS + c, blockIdx.y * ROWS + r, tile[r][c]);
    }
}
