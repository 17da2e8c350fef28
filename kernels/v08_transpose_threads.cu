// v08_transpose_threads.cu: out = transpose of in, with one thread, and with one thread per row.
//
// serial:         one lane of one warp does it all; nothing hides the latency of a load.
// row_per_thread: as many threads as rows. The 32 lanes of a warp walk 32 rows side by side: a load touches
//                 32 sectors of in, and uses 4 bytes of each before it moves on; a store touches 4 of out.
//                 The other 28 bytes wait in the L1 cache for the next seven loads, if it is large enough.
// in is rows x cols and out is cols x rows, both row-major. No arithmetic: bytes per second count.
// Any rows, cols. Launch: serial one thread; row_per_thread THREADS threads, one block per THREADS rows of in.

constexpr int THREADS = 32;  // rows of in owned by one block: few, so that there are blocks for all SMs

// ANCHOR: kernel
// ANCHOR: serial
extern "C" __global__ void __launch_bounds__(1)
transpose_serial(int rows, int cols, const float* in, float* out)
{
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            out[col * rows + row] = in[row * cols + col];  // out[col][row] = in[row][col]
        }
    }
}
// ANCHOR_END: serial

// ANCHOR: row_per_thread
extern "C" __global__ void __launch_bounds__(THREADS)
transpose_row_per_thread(int rows, int cols, const float* in, float* out)
{
    const int row = blockIdx.y * THREADS + threadIdx.x;  // lane i -> first row + i
    if (row >= rows) return;  // safe: no barrier follows

    for (int col = 0; col < cols; ++col) {
        out[col * rows + row]        // out[col][row]: 32 neighbours per warp
            = in[row * cols + col];  // in[row][col]: 32 rows of in per warp
    }
}
// ANCHOR_END: row_per_thread
// ANCHOR_END: kernel
