// The two kernels that cuda.core and PyCUDA compile. numba-cuda writes the same two in Python.

// ANCHOR: add
extern "C" __global__ void add(int n, const float* a, const float* b, float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
// ANCHOR_END: add

// ANCHOR: matmul
constexpr int TILE = 16;

// C = A * B for square matrices of n x n; n is a multiple of TILE.
extern "C" __global__ void matmul(int n, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;

    float acc = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * n + k0 + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + col];
        __syncthreads();  // both tiles are written -> all threads may read them
        for (int k = 0; k < TILE; ++k) acc += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();  // all threads have read -> the next tiles may be written
    }
    C[row * n + col] = acc;
}
// ANCHOR_END: matmul
