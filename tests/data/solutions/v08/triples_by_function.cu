// One flat tile, and a function that says where part p of a vector lies.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
transpose_vectors(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[32 * 99];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto place = [](int r, int c, int part) { return r * 99 + part + 3 * c; };
    for (int t = warp; t < 96; t += 8) {
        const int r = t / 3, f = t % 3 * 32 + lane;
        tile[place(r, f / 3, f % 3)] = load_or_zero(in, rows, 3 * cols, int(blockIdx.y) * 32 + r, int(blockIdx.x) * 96 + f);
    }
    __syncthreads();
    for (int t = warp; t < 96; t += 8) {
        const int c = t / 3, f = t % 3 * 32 + lane;
        store_if_inside(out, cols, 3 * rows, int(blockIdx.x) * 32 + c, int(blockIdx.y) * 96 + f, tile[place(f / 3, c, f % 3)]);
    }
}
