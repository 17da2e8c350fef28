// v08_transpose_float4.cu: 16 bytes per lane on every side, global and shared.
//
// What changed: a thread loads a 4 x 4 square of in as four float4, turns it in its registers, and stores its
// four columns as rows of the tile, which therefore holds the transpose already. The tile is 64 x 64, as
// 64 rows of 16 float4, and the swizzle moves whole float4: 8 of them make the 32 banks.
// Per element: a quarter of the instructions, and four times the bytes in flight.
// Where a row is no multiple of four floats, or ends, elements are moved one by one.
// Launch: 256 threads, one block per 64 x 64 elements of in. in and out lie on 16 bytes.

constexpr int TILE = 64;           // edge of the tile
constexpr int WIDTH = 4;           // floats in a float4
constexpr int COLS = TILE / WIDTH;  // float4 in a row of the tile
constexpr int ROWS = TILE / WIDTH;  // rows of the tile that the block stores at once; squares down the tile
constexpr int BANK_GROUPS = 8;     // float4 that fit side by side into 32 banks
static_assert((COLS & (COLS - 1)) == 0, "c ^ (r / WIDTH) must stay inside the row");
static_assert(COLS % BANK_GROUPS == 0, "every row of the tile must start at bank 0");

// X[row][col .. col + 4] of a rows x cols matrix, zeros outside of it.
__device__ __forceinline__ float4 load4(const float* X, int rows, int cols, int row, int col)
{
    if (row < rows && col + WIDTH <= cols && cols % WIDTH == 0) {
        return *reinterpret_cast<const float4*>(&X[row * cols + col]);
    }
    float4 v;
    v.x = row < rows && col + 0 < cols ? X[row * cols + col + 0] : 0.0f;
    v.y = row < rows && col + 1 < cols ? X[row * cols + col + 1] : 0.0f;
    v.z = row < rows && col + 2 < cols ? X[row * cols + col + 2] : 0.0f;
    v.w = row < rows && col + 3 < cols ? X[row * cols + col + 3] : 0.0f;
    return v;
}

// X[row][col .. col + 4] = v, where that lies inside.
__device__ __forceinline__ void store4(float* X, int rows, int cols, int row, int col, float4 v)
{
    if (row >= rows) return;
    if (col + WIDTH <= cols && cols % WIDTH == 0) {
        *reinterpret_cast<float4*>(&X[row * cols + col]) = v;
        return;
    }
    if (col + 0 < cols) X[row * cols + col + 0] = v.x;
    if (col + 1 < cols) X[row * cols + col + 1] = v.y;
    if (col + 2 < cols) X[row * cols + col + 2] = v.z;
    if (col + 3 < cols) X[row * cols + col + 3] = v.w;
}

// ANCHOR: kernel
// ANCHOR: swizzle
// The column of the tile in which the float4 (r, c) lies. Eight lanes store rows four apart, or load neighbours.
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
    const int row = blockIdx.y * TILE + thread_row * WIDTH;
    const int col = blockIdx.x * TILE + thread_col * WIDTH;
    // SOLUTION(v08): load this thread's 4 x 4 square as rows, and store it into the tile as columns
    const float4 a = load4(in, rows, cols, row + 0, col);
    const float4 b = load4(in, rows, cols, row + 1, col);
    const float4 c = load4(in, rows, cols, row + 2, col);
    const float4 d = load4(in, rows, cols, row + 3, col);
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
    const int out_row = blockIdx.x * TILE + thread_row;
    const int out_col = blockIdx.y * TILE + thread_col * WIDTH;
    for (int i = 0; i < TILE; i += ROWS) {
        const float4 v = tile[thread_row + i][swizzled(thread_row + i, thread_col)];
        store4(out, cols, rows, out_row + i, out_col, v);
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
