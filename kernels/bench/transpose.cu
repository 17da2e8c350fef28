// transpose.cu: out = transpose of in, by way of a tile in shared memory.
//
// Both global sides run along rows. The tile has one column more than it needs, so that the 32 lanes that
// read a column of it meet 32 different banks. Any size. Launch: 32 x 8 threads, one block per 32 x 32.

constexpr int TILE = 32;
constexpr int ROWS = 8;  // rows of the tile that the block moves at once

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE + 1];

    const int col = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) {
        if (row + i < rows && col < cols) tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
    }
    __syncthreads();  // writes to tile done -> reads may start

    const int out_col = blockIdx.y * TILE + threadIdx.x;
    const int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) {
        if (out_row + i < cols && out_col < rows) {
            out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
