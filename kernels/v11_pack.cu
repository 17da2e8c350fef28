// v11_pack.cu: a matrix in the layout that the kernels of v11 read: row-major, each row on 16 bytes.
//
// pack_v11: out[row][col] = in[row][col]; turn_v11: out[row][col] = in[col][row]. `pitch` floats from one row of `out`
// to the next.
// Launch: 32 x 8 threads, one block for each 32 rows of 128 columns of `out`; of turn_v11, of 32.
// arch: compute_90a
#include "v12_dependent.cuh"

constexpr int LANES = 32, WARPS = 8;
constexpr int TILE = 32;   // rows
constexpr int ACROSS = 4;  // columns of a thread

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(LANES * WARPS)
pack_v11(int rows, int cols, int pitch, const float* in, float* out)
{
    constexpr int DOWN = TILE / WARPS;
    const int blocks_n = (cols + LANES * ACROSS - 1) / (LANES * ACROSS);
    const int col = blockIdx.x % blocks_n * (LANES * ACROSS) + threadIdx.x;
    const int row = blockIdx.x / blocks_n * TILE + threadIdx.y;
    const float* from = in + row * static_cast<long long>(cols) + col;
    float* to = out + row * static_cast<long long>(pitch) + col;
    let_next_begin();
    wait_for_previous();  // it may have written `in`, and may still read `out`

    float v[DOWN][ACROSS];  // all loads go out before the first store
    #pragma unroll
    for (int i = 0; i < DOWN; ++i) {
        #pragma unroll
        for (int j = 0; j < ACROSS; ++j)
            if (row + i * WARPS < rows && col + j * LANES < cols)
                v[i][j] = from[i * WARPS * static_cast<long long>(cols) + j * LANES];
    }
    #pragma unroll
    for (int i = 0; i < DOWN; ++i) {
        #pragma unroll
        for (int j = 0; j < ACROSS; ++j)
            if (row + i * WARPS < rows && col + j * LANES < cols)
                to[i * WARPS * static_cast<long long>(pitch) + j * LANES] = v[i][j];
    }
}

extern "C" __global__ void __launch_bounds__(LANES * WARPS)
turn_v11(int rows, int cols, int pitch, const float* in, float* out)
{
    __shared__ float tile[TILE][LANES + 1];  // one more column: a column of the tile lies in 32 banks
    const int blocks_n = (cols + LANES - 1) / LANES;
    const int col = blockIdx.x % blocks_n * LANES, row = blockIdx.x / blocks_n * TILE;
    let_next_begin();
    wait_for_previous();

    for (int i = threadIdx.y; i < TILE; i += WARPS) {
        const int c = col + i, r = row + threadIdx.x;
        if (r < rows && c < cols) tile[i][threadIdx.x] = in[c * static_cast<long long>(rows) + r];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += WARPS) {
        const int r = row + i, c = col + threadIdx.x;
        if (r < rows && c < cols) out[r * static_cast<long long>(pitch) + c] = tile[threadIdx.x][i];
    }
}
// ANCHOR_END: kernel
