// Unrolled by hand, with a sum for each remainder of k.
extern "C" __global__ void sgemm_v01_col_per_lane(int M, int N, int K, const float* __restrict__ A,
                                                  const float* __restrict__ B, float* __restrict__ C)
{
    const unsigned thread = threadIdx.x, row = blockIdx.y * 32 + thread / 32, col = blockIdx.x * 32 + thread % 32;
    if (!(row < M && col < N)) return;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    do {
        if (k + 3 < K) {
            s0 += A[row * K + k] * B[k * N + col];
            s1 += A[row * K + k + 1] * B[(k + 1) * N + col];
            s2 += A[row * K + k + 2] * B[(k + 2) * N + col];
            s3 += A[row * K + k + 3] * B[(k + 3) * N + col];
            k += 4;
        } else {
            s0 += __ldg(A + row * K + k) * __ldg(B + k * N + col);
            ++k;
        }
    } while (k < K);
    C[row * N + col] = (s0 + s1) + (s2 + s3);
}
