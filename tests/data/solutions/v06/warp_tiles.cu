// Warps own 64 x 32 elements; the lanes of a warp are 8 rows of 4, and both fragments come as four and four.
#include "common.cuh"
constexpr int EDGE = 128, DEPTH = 8, PITCH = EDGE + 4;

extern "C" __global__ void __launch_bounds__(256)
sgemm_v06_outer_product(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float tiles[2 * DEPTH * PITCH];
    float* const a_tile = tiles;
    float* const b_tile = tiles + DEPTH * PITCH;
    const int t = threadIdx.x, warp = t >> 5, lane = t & 31;
    const int row0 = blockIdx.y * EDGE, col0 = blockIdx.x * EDGE;
    const int row = (warp & 1) * 64 + (lane >> 2) * 4, col = (warp >> 1) * 32 + (lane & 3) * 4;
    float4 acc[8][2];
    for (int i = 0; i < 16; ++i) acc[i / 2][i % 2] = make_float4(0, 0, 0, 0);
    int k0 = 0;
    while (k0 < K) {
        const float4 a = load4_or_zero(A, M, K, row0 + (t >> 1), k0 + (t & 1) * 4);
        const float from_a[4] = {a.x, a.y, a.z, a.w};
        #pragma unroll
        for (int i = 0; i < 4; ++i) a_tile[((t & 1) * 4 + i) * PITCH + (t >> 1)] = from_a[i];
        store4(b_tile + warp * PITCH + lane * 4, load4_or_zero(B, K, N, k0 + warp, col0 + lane * 4));
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float4 up = load4(a_tile + k * PITCH + row), down = load4(a_tile + k * PITCH + row + 32);
            const float4 b[2] = {load4(b_tile + k * PITCH + col), load4(b_tile + k * PITCH + col + 16)};
            const float a_frag[8] = {up.x, up.y, up.z, up.w, down.x, down.y, down.z, down.w};
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                #pragma unroll
                for (int j = 0; j < 2; ++j) {
                    acc[i][j].x = fmaf(a_frag[i], b[j].x, acc[i][j].x);
                    acc[i][j].y = fmaf(a_frag[i], b[j].y, acc[i][j].y);
                    acc[i][j].z = fmaf(a_frag[i], b[j].z, acc[i][j].z);
                    acc[i][j].w = fmaf(a_frag[i], b[j].w, acc[i][j].w);
                }
            }
        }
        __syncthreads();
        k0 += DEPTH;
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        #pragma unroll
        for (int j = 0; j < 2; ++j) store4_if_inside(C, M, N, row0 + row + i % 4 + i / 4 * 32, col0 + col + j * 16, acc[i][j]);
    }
}
