// Turns the rows x 3 cols matrix of floats: the parts of a vector end up in three rows.
#include "common.cuh"

extern "C" __global__ void transpose_vectors(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[32][97];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int t = warp; t < 96; t += 8) {
        const int r = t / 3, c = t % 3 * 32 + lane;
        tile[r][c] = load_or_zero(in, rows, 3 * cols, int(blockIdx.y) * 32 + r, int(blockIdx.x) * 96 + c);
    }
    __syncthreads();
    for (int c = warp; c < 96; c += 8) {
        store_if_inside(out, 3 * cols, rows, int(blockIdx.x) * 96 + c, int(blockIdx.y) * 32 + lane, tile[lane][c]);
    }
}
