// A vector per thread and turn, without a tile: three accesses for each.
struct Vector {
    float x, y, z;
};

extern "C" __global__ void transpose_vectors(int rows, int cols, const Vector* in, Vector* out)
{
    for (int i = threadIdx.x; i < 1024; i += 256) {
        const int row = blockIdx.y * 32 + i / 32, col = blockIdx.x * 32 + i % 32;
        if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
    }
}
