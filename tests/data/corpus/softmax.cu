// softmax.cu: one warp per row, maximum and sum by shuffles, expf.

constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void softmax(int rows, int cols, const float* in, float* out)
{
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;

    float largest = __int_as_float(0xff800000);
    for (int col = lane; col < cols; col += 32) largest = fmaxf(largest, in[row * cols + col]);
    for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, step));

    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) sum += expf(in[row * cols + col] - largest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);

    for (int col = lane; col < cols; col += 32) out[row * cols + col] = expf(in[row * cols + col] - largest) / sum;
}
