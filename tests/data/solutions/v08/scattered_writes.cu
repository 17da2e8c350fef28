// Straight from global to global memory, lanes along rows of in.
extern "C" __global__ void transpose_rectangular(int rows, int cols, const float* in, float* out)
{
    for (int i = threadIdx.x; i < 1024; i += 256) {
        const int row = blockIdx.y * 32 + i / 32, col = blockIdx.x * 32 + i % 32;
        if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
    }
}
