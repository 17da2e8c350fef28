// tuned_later.cu: a museum piece. out = transpose of in, through a tile; right while blocks are square.
constexpr int LARGEST = 32;

// ANCHOR: kernel
extern "C" __global__ void tuned_later(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[LARGEST][LARGEST + 1];
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
    __syncthreads();

    // The block's corner swaps its coordinates, and so do the threads in the tile.
    const int out_row = blockIdx.x * blockDim.x + threadIdx.y;
    const int out_col = blockIdx.y * blockDim.y + threadIdx.x;
    if (out_row < cols && out_col < rows) out[out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
}
// ANCHOR_END: kernel
