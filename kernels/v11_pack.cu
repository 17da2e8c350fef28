// v11_pack.cu: a matrix in the layout that the kernels of v11 read: row-major, each row on 16 bytes.
//
// out[row][col] = in[row][col], or in[col][row] where `turned`. `pitch` floats from one row of `out` to the next.
// Launch: 32 x 8 threads, one block for each 32 x 32 of `out`.
// arch: compute_80

constexpr int TILE = 32, ROWS = 8;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(TILE * ROWS)
pack_v11(int rows, int cols, int pitch, int turned, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE + 1];  // one more column: a column of the tile lies in 32 banks
    const int col = blockIdx.x * TILE, row = blockIdx.y * TILE;
    const long long in_pitch = turned ? rows : cols;

    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        const int r = turned ? col + i : row + i, c = (turned ? row : col) + threadIdx.x;
        if (r < (turned ? cols : rows) && c < (turned ? rows : cols)) tile[i][threadIdx.x] = in[r * in_pitch + c];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        const int r = row + i, c = col + threadIdx.x;
        if (r < rows && c < cols)
            out[r * static_cast<long long>(pitch) + c] = turned ? tile[threadIdx.x][i] : tile[i][threadIdx.x];
    }
}
// ANCHOR_END: kernel
