// The lanes load 32 elements of a row of A together, and hand them out by shuffles.
constexpr int EDGE = 32;

extern "C" __global__ void sgemm_v01_col_per_lane(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.y * EDGE + (threadIdx.x >> 5);
    const int col = blockIdx.x * EDGE + lane;
    if (row >= M) return;  // whole warps
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += EDGE) {
        const float a = k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        const int n = min(EDGE, K - k0);
        for (int i = 0; i < n; ++i) {
            const float from_lane = __shfl_sync(0xffffffffu, a, i);
            if (col < N) sum = fmaf(from_lane, B[(k0 + i) * N + col], sum);
        }
    }
    if (col < N) C[row * N + col] = sum;
}
