// register_tile.cu: C = A * B, 8 x 8 elements of C per thread, 128 x 128 per block.
//
// Global and shared loads are four floats wide. a_tile is stored transposed, so that a thread's rows lie side
// by side. Any M, N, K: where four floats are not there, or not on 16 bytes, they are taken one by one, and
// missing ones are zeros, which change no sum. Launch: 256 threads, one block per 128 x 128 of C.

constexpr int BM = 128, BN = 128, BK = 8;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int WIDTH = 4;  // floats in a float4
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

// X[row][col .. col + 4] of a rows x cols matrix, zeros outside of it.
__device__ __forceinline__ float4 load4(const float* X, int rows, int cols, int row, int col)
{
    if (row < rows && col + WIDTH <= cols && cols % WIDTH == 0) {
        return *reinterpret_cast<const float4*>(&X[row * cols + col]);
    }
    float4 v;
    v.x = row < rows && col + 0 < cols ? X[row * cols + col + 0] : 0.0f;
    v.y = row < rows && col + 1 < cols ? X[row * cols + col + 1] : 0.0f;
    v.z = row < rows && col + 2 < cols ? X[row * cols + col + 2] : 0.0f;
    v.w = row < rows && col + 3 < cols ? X[row * cols + col + 3] : 0.0f;
    return v;
}

// X[row][col .. col + 4] = v, where that lies inside.
__device__ __forceinline__ void store4(float* X, int rows, int cols, int row, int col, float4 v)
{
    if (row >= rows) return;
    if (col + WIDTH <= cols && cols % WIDTH == 0) {
        *reinterpret_cast<float4*>(&X[row * cols + col]) = v;
        return;
    }
    if (col + 0 < cols) X[row * cols + col + 0] = v.x;
    if (col + 1 < cols) X[row * cols + col + 1] = v.y;
    if (col + 2 < cols) X[row * cols + col + 2] = v.z;
    if (col + 3 < cols) X[row * cols + col + 3] = v.w;
}

extern "C" __global__ void __launch_bounds__(THREADS)
register_tile(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;
    const int thread_col = thread % (BN / TN) * TN;

    // What this thread brings in: one float4 along a row of A, one along a row of B.
    const int a_row = thread / (BK / WIDTH);
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 a = load4(A, M, K, block_row + a_row, k0 + a_col);
        const float4 b = load4(B, K, N, k0 + b_row, block_col + b_col);
        a_tile[a_col + 0][a_row] = a.x;
        a_tile[a_col + 1][a_row] = a.y;
        a_tile[a_col + 2][a_row] = a.z;
        a_tile[a_col + 3][a_row] = a.w;
        *reinterpret_cast<float4*>(&b_tile[b_row][b_col]) = b;
        __syncthreads();  // writes to the tiles done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a_frag[TM], b_frag[TN];
            #pragma unroll
            for (int i = 0; i < TM; i += WIDTH) {
                const float4 v = *reinterpret_cast<const float4*>(&a_tile[k][thread_row + i]);
                a_frag[i + 0] = v.x, a_frag[i + 1] = v.y, a_frag[i + 2] = v.z, a_frag[i + 3] = v.w;
            }
            #pragma unroll
            for (int j = 0; j < TN; j += WIDTH) {
                const float4 v = *reinterpret_cast<const float4*>(&b_tile[k][thread_col + j]);
                b_frag[j + 0] = v.x, b_frag[j + 1] = v.y, b_frag[j + 2] = v.z, b_frag[j + 3] = v.w;
            }
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        __syncthreads();  // reads done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const float4 v = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4(C, M, N, block_row + thread_row + i, block_col + thread_col + j, v);
        }
    }
}
