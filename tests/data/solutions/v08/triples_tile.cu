// By way of a tile of vectors: along rows on both sides, but by three accesses of a vector each.
struct Vector {
    float x, y, z;
};

extern "C" __global__ void transpose_vectors(int rows, int cols, const Vector* in, Vector* out)
{
    __shared__ Vector tile[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int r = warp; r < 32; r += 8) {
        const int row = blockIdx.y * 32 + r, col = blockIdx.x * 32 + lane;
        if (row < rows && col < cols) tile[r][lane] = in[row * cols + col];
    }
    __syncthreads();
    for (int r = warp; r < 32; r += 8) {
        const int row = blockIdx.x * 32 + r, col = blockIdx.y * 32 + lane;
        if (row < cols && col < rows) out[row * rows + col] = tile[lane][r];
    }
}
