// No shared memory and no barrier: eight steps of k ahead in registers, straight from global memory.
constexpr int BM = 128, BN = 128, TM = 8, TN = 8, BK = 8;

extern "C" __global__ void __launch_bounds__(256)
sgemm_v07_double_buffer(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row0 = blockIdx.y * BM + threadIdx.x / 16 * TM, col0 = blockIdx.x * BN + threadIdx.x % 16 * TN;
    float acc[TM][TN] = {}, a[BK][TM], b[BK][TN], a_next[BK][TM], b_next[BK][TN];
    auto fetch = [&](int k0) {
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                a_next[k][i] = row0 + i < M && k0 + k < K ? A[(row0 + i) * K + k0 + k] : 0.0f;
                b_next[k][i] = k0 + k < K && col0 + i < N ? B[(k0 + k) * N + col0 + i] : 0.0f;
            }
        }
    };
    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                a[k][i] = a_next[k][i];
                b[k][i] = b_next[k][i];
            }
        }
        fetch(k0 + BK);
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a[k][i] * b[k][j];
            }
        }
    }
    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            if (row0 + i < M && col0 + j < N) C[(row0 + i) * N + col0 + j] = acc[i][j];
        }
    }
}
