// stencil.cu: five points in two dimensions, with a tile in shared memory and its halo.

constexpr int TILE = 16;

extern "C" __global__ void stencil(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    const int col = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    const auto at = [&](int r, int c) {
        return r >= 0 && r < rows && c >= 0 && c < cols ? in[r * cols + c] : 0.0f;
    };
    const int x = threadIdx.x + 1;
    const int y = threadIdx.y + 1;
    tile[y][x] = at(row, col);
    if (threadIdx.x == 0) tile[y][0] = at(row, col - 1);
    if (threadIdx.x == TILE - 1) tile[y][TILE + 1] = at(row, col + 1);
    if (threadIdx.y == 0) tile[0][x] = at(row - 1, col);
    if (threadIdx.y == TILE - 1) tile[TILE + 1][x] = at(row + 1, col);
    __syncthreads();
    if (row >= rows || col >= cols) return;
    const float around = (tile[y - 1][x] + tile[y + 1][x]) + (tile[y][x - 1] + tile[y][x + 1]);
    out[row * cols + col] = fmaf(-4.0f, tile[y][x], around);
}
