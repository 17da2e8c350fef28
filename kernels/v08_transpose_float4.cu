// v08_transpose_float4.cu: 16 bytes per lane on every side, global and shared.
//
// Changed since rectangular: a thread loads a 4 x 4 square of in as four float4, turns it in its registers,
// and stores its columns as rows of the tile, which therefore holds the transpose already. The tile is
// 64 x 64, so that a row of it is 16 float4. The swizzle moves whole float4: 8 of them make the 32 banks.
// Per element a quarter of the instructions, and rows of 256 bytes on both sides.
// Consecutive blocks own tiles below each other: what runs together loads from many rows of in, and stores to
// neighbouring parts of few rows of out. Between blocks, too, scattered loads hurt less than scattered stores.
// Where rows are no multiple of four floats, elements are moved one by one, and rectangular is faster.
// Any rows, cols. Launch: COLS * ROWS threads, one block per TILE x TILE elements of in,
// blockIdx.x counts them down in, blockIdx.y along its rows.
#include "common.cuh"

constexpr int TILE = 64;            // edge of the tile
constexpr int COLS = TILE / WIDTH;  // float4 in a row of the tile; threads side by side
constexpr int ROWS = TILE / WIDTH;  // 4 x 4 squares down the tile; rows of it that the block stores at once
constexpr int BANK_GROUPS = 8;      // float4 that fit side by side into 32 banks
static_assert((COLS & (COLS - 1)) == 0, "c ^ (r / WIDTH) must stay inside the row");
static_assert(COLS % BANK_GROUPS == 0, "every row of the tile must start at bank 0");

// ANCHOR: kernel
// ANCHOR: swizzle
// The column of the tile in which the float4 (r, c) lies. Eight lanes store to rows four apart, or load from
// neighbouring columns: either way c ^ (r / WIDTH) takes 8 different values modulo 8.
__device__ __forceinline__ int swizzled(int r, int c)
{
    return c ^ (r / WIDTH);
}
// ANCHOR_END: swizzle

extern "C" __global__ void __launch_bounds__(COLS * ROWS)
transpose_float4(int rows, int cols, const float* in, float* out)
{
    __shared__ float4 tile[TILE][COLS];  // a row of the tile is a row of out

    const int thread_row = threadIdx.x / COLS;
    const int thread_col = threadIdx.x % COLS;

    // ANCHOR: load
    const int row = blockIdx.x * TILE + thread_row * WIDTH;
    const int col = blockIdx.y * TILE + thread_col * WIDTH;
    // SOLUTION(v08): load this thread's 4 x 4 square as rows, and store it into the tile as columns
    const float4 a = load4_or_zero(in, rows, cols, row + 0, col);
    const float4 b = load4_or_zero(in, rows, cols, row + 1, col);
    const float4 c = load4_or_zero(in, rows, cols, row + 2, col);
    const float4 d = load4_or_zero(in, rows, cols, row + 3, col);
    const int tile_row = thread_col * WIDTH;
    const int tile_col = swizzled(tile_row, thread_row);  // the same for the four rows
    tile[tile_row + 0][tile_col] = make_float4(a.x, b.x, c.x, d.x);
    tile[tile_row + 1][tile_col] = make_float4(a.y, b.y, c.y, d.y);
    tile[tile_row + 2][tile_col] = make_float4(a.z, b.z, c.z, d.z);
    tile[tile_row + 3][tile_col] = make_float4(a.w, b.w, c.w, d.w);
    // SOLUTION_END
    __syncthreads();  // writes to tile done -> reads may start
    // ANCHOR_END: load

    // ANCHOR: store
    const int out_row = blockIdx.y * TILE + thread_row;
    const int out_col = blockIdx.x * TILE + thread_col * WIDTH;
    #pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        const float4 v = tile[thread_row + i][swizzled(thread_row + i, thread_col)];
        store4_if_inside(out, cols, rows, out_row + i, out_col, v);
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
