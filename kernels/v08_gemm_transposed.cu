// v08_gemm_transposed.cu: C = op(A) * op(B), where each operand may be stored transposed.
//
// nn: A is M x K, B is K x N.  nt: B is stored as N x K.  tn: A is stored as K x M.  tt: both.
// What changed: only how a tile is filled. a_tile[k][row] and b_tile[k][col] are the same in all four, so the
// turn costs nothing where it is needed, and the products see one layout.
// An operand whose rows run along k is turned on its way into the tile, a float4 as four single stores;
// one whose rows run across k is copied, a float4 as it is. Both are read along the rows of memory.
// Unchanged: 8 x 8 elements of C per thread, fragments by 128-bit shared loads, 64 multiply-adds per k.
// Launch: 256 threads, one block per 128 x 128 of C. A, B and C lie on 16 bytes.

constexpr int BM = 128, BN = 128, BK = 8;
constexpr int TM = 8, TN = 8;
constexpr int WIDTH = 4;  // floats in a float4
constexpr int PAD = 4;    // floats between the rows of a tile that nobody uses: rows four apart in k swap banks
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(BM == BN, "one function fills both tiles");
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of each tile");

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

using Tile = float[BK][BM + PAD];  // tile[k][i]: i is a row of C in a_tile, a column of C in b_tile

// ANCHOR: load
// Fills a tile with what `size` x K (rows along k) or K x `size` (rows across k) holds from (first, k0) on.
template <bool ROWS_ALONG_K>
__device__ __forceinline__ void fill(Tile& tile, const float* X, int size, int K, int first, int k0)
{
    if constexpr (ROWS_ALONG_K) {
        const int i = threadIdx.x / (BK / WIDTH);
        const int k = threadIdx.x % (BK / WIDTH) * WIDTH;
        const float4 v = load4(X, size, K, first + i, k0 + k);  // X[i][k]: two lanes per row
        // SOLUTION(v08): turn the float4: its four elements belong to four rows of the tile
        tile[k + 0][i] = v.x;
        tile[k + 1][i] = v.y;
        tile[k + 2][i] = v.z;
        tile[k + 3][i] = v.w;
        // SOLUTION_END
    } else {
        const int k = threadIdx.x / (BM / WIDTH);
        const int i = threadIdx.x % (BM / WIDTH) * WIDTH;
        const float4 v = load4(X, K, size, k0 + k, first + i);  // X[k][i]: the warp reads along one row
        *reinterpret_cast<float4*>(&tile[k][i]) = v;
    }
}
// ANCHOR_END: load

// ANCHOR: kernel
template <bool TRANSPOSE_A, bool TRANSPOSE_B>
__device__ __forceinline__ void multiply(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) Tile a_tile;
    __shared__ __align__(16) Tile b_tile;

    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = threadIdx.x / (BN / TN) * WIDTH;  // rows thread_row .. + 4, and the same half a tile on
    const int thread_col = threadIdx.x % (BN / TN) * WIDTH;  // columns likewise

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        fill<!TRANSPOSE_A>(a_tile, A, M, K, block_row, k0);
        fill<TRANSPOSE_B>(b_tile, B, N, K, block_col, k0);
        __syncthreads();  // writes to the tiles done -> reads may start

        // ANCHOR: compute
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a_frag[TM], b_frag[TN];
            #pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float4 a = *reinterpret_cast<const float4*>(&a_tile[k][half * BM / 2 + thread_row]);
                const float4 b = *reinterpret_cast<const float4*>(&b_tile[k][half * BN / 2 + thread_col]);
                float* a_half = &a_frag[half * WIDTH];
                float* b_half = &b_frag[half * WIDTH];
                a_half[0] = a.x, a_half[1] = a.y, a_half[2] = a.z, a_half[3] = a.w;
                b_half[0] = b.x, b_half[1] = b.y, b_half[2] = b.z, b_half[3] = b.w;
            }
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        // ANCHOR_END: compute
        __syncthreads();  // reads done -> the next tiles may overwrite
    }

    // ANCHOR: store
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = block_row + i / WIDTH * (BM / 2) + thread_row + i % WIDTH;
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const int col = block_col + j / WIDTH * (BN / 2) + thread_col;
            const float4 v = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4(C, M, N, row, col, v);
        }
    }
    // ANCHOR_END: store
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v08_nn(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<false, false>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v08_nt(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<false, true>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v08_tn(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<true, false>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v08_tt(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<true, true>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
