// One array, indices by hand, and a while loop.
extern "C" __global__ void transpose_rectangular(int rows, int cols, const float* __restrict__ in, float* __restrict__ out)
{
    __shared__ float tile[33 * 32];
    const int lane = threadIdx.x & 31, row0 = blockIdx.y << 5, col0 = blockIdx.x << 5;
    int r = threadIdx.x >> 5;
    while (r < 32) {
        tile[r * 33 + lane] = row0 + r < rows && col0 + lane < cols ? __ldg(in + (row0 + r) * cols + col0 + lane) : 0.0f;
        r += 8;
    }
    __syncthreads();
    r = threadIdx.x >> 5;
    do {
        if (col0 + r < cols && row0 + lane < rows) *(out + (col0 + r) * rows + row0 + lane) = tile[lane * 33 + r];
    } while ((r += 8) < 32);
}
