// naive.cu: C = A * B, one thread per element of C.
//
// The lanes of a warp own neighbouring columns. The sum runs over k in order with one multiply-add per step,
// so it equals a sequential f32::mul_add loop bit for bit. Any M, N, K. Launch: 16 x 16 threads.

constexpr int BLOCK = 16;  // edge of the square of C owned by one block

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
naive(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;  // safe: no barrier follows

    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k]   // A[row][k]: the same for all lanes of a row
             * B[k * N + col];  // B[k][col]: neighbours
    }
    C[row * N + col] = acc;
}
