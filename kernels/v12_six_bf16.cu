// v12_six_bf16.cu: FP32 from six products of bf16, by warpgroups.
//
// Changed since v12_wgmma: A and B are FP32, and threads bring the next tiles while products run: they load elements,
// start the products, and split each element into three numbers of bf16. Three times 8 bits are the 24 of FP32. Of the
// nine products of two such sums, six are computed: the other three are less than a unit in the last place of FP32.
// Sums of a step of 64 k begin at zero, the small ones first, and are added to the others in FP32, rounded and not cut,
// as in v10_three_tf32. TF32 would need three products, and B with neighbouring k side by side, which products of bf16
// don't.
// After Ootomo and Yokota 2022. cuBLAS 12.9 has it with nine products, on cards newer than Hopper.
// C = alpha * A * B. Any M, N, K; finite elements whose parts are no smaller than FP32 can be.
// Launch: THREADS threads, one block per tile of C; shared memory as the launch says.
// arch: compute_90a
#include "v12_tiles.cuh"

// ANCHOR: kernel
constexpr int PARTS = 3, STAGES = 2;
using T = Tiles<128, 128, STAGES>;  // of C, and of one part
constexpr int THREADS = T::MULTIPLIERS, STAGE_BYTES = PARTS * T::STAGE_BYTES;
constexpr int LOADS = T::BM * T::BK / WIDTH / THREADS;  // of a thread, for each tile
static_assert(T::BM == T::BN, "as many for A as for B");

// ANCHOR: split
// Two neighbours as sums of three numbers of bf16 each. Both differences are exact.
__device__ __forceinline__ void split(unsigned (&part)[PARTS], float low, float high)
{
    #pragma unroll
    for (int p = 0; p < PARTS; ++p) {
        part[p] = pack(low, high);
        low -= __uint_as_float(part[p] << 16);
        high -= __uint_as_float(part[p] & 0xffff0000);
    }
}

// Four neighbours to shared memory, each part to its own tile.
__device__ __forceinline__ void store_parts(unsigned to, float4 v)
{
    unsigned first[PARTS], second[PARTS];
    split(first, v.x, v.y);
    split(second, v.z, v.w);
    #pragma unroll
    for (int p = 0; p < PARTS; ++p)
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};"
                     :: "r"(to + p * T::STAGE_BYTES), "r"(first[p]), "r"(second[p]) : "memory");
}
// ANCHOR_END: split

// Where float4 `i` of row `row` lies among rows of 128 bytes of bf16, swizzled.
__device__ __forceinline__ unsigned place(int row, int i)
{
    return row * T::ROW_BYTES + (i / 2 ^ row % 8) * 16 + i % 2 * 8;
}

// ANCHOR: bring
// This thread's share of a tile of COLS columns, on its way from global memory through registers to the parts of a
// pair. `ON_16_BYTES`: rows start there; then a load needs no branch, and goes on while the program does.
template <int COLS, bool ON_16_BYTES>
struct Share {
    static constexpr int WIDE = COLS / WIDTH;        // float4s of a row
    static constexpr int ROWS = THREADS / WIDE;      // at a time
    static constexpr int BOX_WIDE = T::BOX / WIDTH;  // float4s of a row of a box
    static_assert(ROWS % 8 == 0, "so that the swizzle of a thread's rows is the same");
    float4 v[LOADS];

    // From X[row][col] on, zeros outside.
    __device__ __forceinline__ void load(const float* X, int rows, int cols, int row, int col)
    {
        const int r = row + threadIdx.x / WIDE, c = col + threadIdx.x % WIDE * WIDTH;
        const float* from = X + r * cols + c;
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            if constexpr (ON_16_BYTES)
                v[i] = r + i * ROWS < rows && c < cols ? load4(from + i * ROWS * cols) : float4{};
            else
                v[i] = load4_or_zero(X, rows, cols, r + i * ROWS, c);
        }
    }

    // Columns lie in boxes, as T::BOX says.
    __device__ __forceinline__ void store(unsigned to) const
    {
        const int column = threadIdx.x % WIDE;
        to += column / BOX_WIDE * T::BOX_BYTES + place(threadIdx.x / WIDE, column % BOX_WIDE);
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) store_parts(to + i * ROWS * T::ROW_BYTES, v[i]);
    }
};
// ANCHOR_END: bring

// ANCHOR: multiply
// Starts a group: six products of parts, the smallest first. acc is new.
__device__ __forceinline__ void multiply_parts(float (&acc)[T::SUMS], unsigned tiles)
{
    fence_products();
    #pragma unroll
    for (int smallness = PARTS - 1; smallness >= 0; --smallness) {
        #pragma unroll
        for (int part = 0; part <= smallness; ++part)
            multiply_pair<T>(acc, tiles + part * T::STAGE_BYTES, tiles + (smallness - part) * T::STAGE_BYTES,
                             PARTS - 1 - smallness + part);
    }
    commit_products();
}
// ANCHOR_END: multiply

template <bool ON_16_BYTES>
__device__ __forceinline__ void multiply_block(int M, int N, int K, float alpha, const float* A, const float* B,
                                               float* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int block_row = blockIdx.y * T::BM, block_col = blockIdx.x * T::BN;
    Share<T::BK, ON_16_BYTES> a;
    Share<T::BN, ON_16_BYTES> b;
    const auto load = [&](int k0) {
        a.load(A, M, K, block_row, k0);
        b.load(B, K, N, k0, block_col);
    };
    const auto store = [&](int stage) {
        a.store(tiles_at + stage * STAGE_BYTES);
        b.store(tiles_at + stage * STAGE_BYTES + T::A_BYTES);
        publish_shared();
    };

    load(0);
    store(0);
    __syncthreads();  // the first tiles are here -> they may be multiplied

    float sums[T::SUMS] = {}, acc[T::SUMS] = {};
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += T::BK) {
        load(k0 + T::BK);  // past the last k: zeros, without a load
        multiply_parts(acc, tiles_at + stage * STAGE_BYTES);
        stage ^= 1;
        store(stage);  // while products run
        wait_products<0>();
        #pragma unroll
        for (int i = 0; i < T::SUMS; ++i) sums[i] += acc[i];
        __syncthreads();  // the next tiles are here, these are read -> they may be overwritten
    }
    const int row = block_row + threadIdx.x / WARP_SIZE * 16;
    store_sums<ON_16_BYTES>(C, M, N, row, block_col, alpha, sums);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v12_six_bf16(int M, int N, int K, float alpha, const float* A, const float* B, float* C)
{
    if (N % WIDTH == 0 && K % WIDTH == 0) multiply_block<true>(M, N, K, alpha, A, B, C);
    else multiply_block<false>(M, N, K, alpha, A, B, C);
}
// ANCHOR_END: kernel
