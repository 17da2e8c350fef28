// v08_gemm_transposed.cu: C = op(A) * op(B), where each operand may be stored transposed.
//
// nn: A is M x K, B is K x N.  nt: B is stored as N x K.  tn: A is stored as K x M.  tt: both.
// Changed since v06: a tile is filled by a function that knows how its operand is stored. An operand with rows
// along k is turned on its way into the tile, a float4 as four single stores; one with rows across k is copied
// as it is. Either way memory is read along rows and no bank is met twice. b_tile is padded as a_tile was.
// Unchanged: the tiles hold a_tile[k][row] and b_tile[k][col], so the products and C see no difference.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block, and the depth of the tiles in shared memory
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile and b_tile
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

// ANCHOR: load
// Where in a tile the float4 goes that a thread brings in: at tile[k][i], and on from there as its operand's
// rows run: along k (X is size x K), or across (X is K x size).
struct Place {
    int k, i;
};

template <bool ROWS_ALONG_K, int EDGE>
__device__ __forceinline__ Place place_of(int thread)
{
    // SOLUTION(v08): where rows run along k, give neighbouring lanes neighbouring pieces of a row
    if (ROWS_ALONG_K) return {thread % (BK / WIDTH) * WIDTH, thread / (BK / WIDTH)};  // two lanes per row
    // SOLUTION_END
    return {thread / (EDGE / WIDTH), thread % (EDGE / WIDTH) * WIDTH};  // one row for 32 lanes
}

template <bool ROWS_ALONG_K>
__device__ __forceinline__ float4 fetch(const float* X, int size, int K, int i, int k)
{
    // SOLUTION(v08): where rows run along k, read X as the size x K matrix that it is
    if (ROWS_ALONG_K) return load4_or_zero(X, size, K, i, k);
    // SOLUTION_END
    return load4_or_zero(X, K, size, k, i);
}

template <bool ROWS_ALONG_K, int EDGE>
__device__ __forceinline__ void put(float (&tile)[BK][EDGE + PAD], Place at, float4 v)
{
    if (!ROWS_ALONG_K) {
        store4(&tile[at.k][at.i], v);
        return;
    }
    // SOLUTION(v08): turn the float4: its four elements belong to four rows of the tile
    tile[at.k + 0][at.i] = v.x;
    tile[at.k + 1][at.i] = v.y;
    tile[at.k + 2][at.i] = v.z;
    tile[at.k + 3][at.i] = v.w;
    // SOLUTION_END
}
// ANCHOR_END: load

// ANCHOR: kernel
template <bool TRANSPOSE_A, bool TRANSPOSE_B>
__device__ __forceinline__ void multiply(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN + PAD];  // b_tile[k][col]

    // ANCHOR: map
    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * WIDTH;  // this thread's rows: thread_row .. + 4, and BM / 2 below
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and BN / 2 to the right
    const Place a_place = place_of<!TRANSPOSE_A, BM>(thread);
    const Place b_place = place_of<TRANSPOSE_B, BN>(thread);
    // ANCHOR_END: map

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 a = fetch<!TRANSPOSE_A>(A, M, K, block_row + a_place.i, k0 + a_place.k);
        const float4 b = fetch<TRANSPOSE_B>(B, N, K, block_col + b_place.i, k0 + b_place.k);
        put<!TRANSPOSE_A, BM>(a_tile, a_place, a);
        put<TRANSPOSE_B, BN>(b_tile, b_place, b);
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        // ANCHOR: compute
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            store4(&a_frag[0], load4(&a_tile[k][thread_row]));
            store4(&a_frag[4], load4(&a_tile[k][thread_row + BM / 2]));
            store4(&b_frag[0], load4(&b_tile[k][thread_col]));
            store4(&b_frag[4], load4(&b_tile[k][thread_col + BN / 2]));
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    acc[i][j] += a_frag[i] * b_frag[j];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
        // ANCHOR_END: compute
    }

    // ANCHOR: store
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const int row = block_row + thread_row + i % WIDTH + i / WIDTH * (BM / 2);
            const int col = block_col + thread_col + j / WIDTH * (BN / 2);
            store4_if_inside(C, M, N, row, col, load4(&acc[i][j]));
        }
    }
    // ANCHOR_END: store
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_v08_nn(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<false, false>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_v08_nt(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<false, true>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_v08_tn(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<true, false>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_v08_tt(int M, int N, int K, const float* A, const float* B, float* C)
{
    multiply<true, true>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
