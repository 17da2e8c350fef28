// No shared memory: a warp turns 8 x 8 elements at a time in its registers. Rows of 8 floats are whole sectors.
extern "C" __global__ void __launch_bounds__(256)
transpose_rectangular(int rows, int cols, const float* in, float* out)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int square = warp; square < 16; square += 8) {
        const int row0 = blockIdx.y * 32 + square / 4 * 8, col0 = blockIdx.x * 32 + square % 4 * 8;
        // Register h of lane l holds row 4 h + l / 8, column l % 8.
        float v[2];
        for (int h = 0; h < 2; ++h) {
            const int row = row0 + 4 * h + lane / 8, col = col0 + lane % 8;
            v[h] = row < rows && col < cols ? in[row * cols + col] : 0.0f;
        }
        // Element (r, c) of the transpose is (c, r): register c / 4 of lane c % 4 * 8 + r.
        for (int h = 0; h < 2; ++h) {
            const int r = 4 * h + lane / 8, c = lane % 8;
            const float low = __shfl_sync(0xffffffffu, v[0], c % 4 * 8 + r);
            const float high = __shfl_sync(0xffffffffu, v[1], c % 4 * 8 + r);
            const int out_row = col0 + r, out_col = row0 + c;
            if (out_row < cols && out_col < rows) out[out_row * rows + out_col] = c < 4 ? low : high;
        }
    }
}
