// v12.variant: bias and activation in the epilogue, for tiles of one or two warpgroups and a bias of rows or columns.
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
// arch: compute_90a
#include "v12_copy.cuh"
#include "v12_tiles.cuh"

// DRAWN
constexpr int BIAS_OF_ROWS = 0, BM = 64, BN = 128;
using Element = float;
// DRAWN_END
using T = Tiles<BM, BN, 1>;
constexpr int THREADS = T::MULTIPLIERS;

// A pair of tiles in shared memory, swizzled as products of warpgroups read them.
template <bool ON_16_BYTES>
__device__ __forceinline__ void fill_tiles(unsigned tiles, int M, int N, int K, const Bf16* A, const Bf16* B,
                                           int block_row, int block_col, int k0)
{
    copy_tile<BM, T::BK, THREADS, ON_16_BYTES>(tiles, A, M, K, block_row, k0);
    #pragma unroll
    for (int box = 0; box < T::BOXES; ++box)
        copy_tile<T::BK, T::BOX, THREADS, ON_16_BYTES>(tiles + T::A_BYTES + box * T::BOX_BYTES, B, K, N, k0,
                                                       block_col + box * T::BOX);
    asm volatile("cp.async.wait_all;" ::: "memory");
    publish_shared();
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_variant(int M, int N, int K, const Bf16* A, const Bf16* B, const float* bias, float* C)
{
    __shared__ __align__(1024) char shared[T::STAGE_BYTES];
    const unsigned tiles = shared_address(shared);
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const bool on_16_bytes = N % BF16_WIDTH == 0 && K % BF16_WIDTH == 0;

    float acc[T::SUMS] = {};
    for (int k0 = 0; k0 < K; k0 += T::BK) {
        if (on_16_bytes) fill_tiles<true>(tiles, M, N, K, A, B, block_row, block_col, k0);
        else fill_tiles<false>(tiles, M, N, K, A, B, block_row, block_col, k0);
        __syncthreads();  // writes to the tiles done -> products may start
        multiply_tiles<T>(acc, tiles, k0);
        wait_products<0>();
        __syncthreads();  // products done -> writes to the tiles may start
    }

    // SOLUTION(v12): the epilogue: finish the accumulators, and store them
    const int warp_row = block_row + threadIdx.x / WARP_SIZE * 16;
    const int row = warp_row + threadIdx.x % WARP_SIZE / 4, col = block_col + threadIdx.x % 4 * 2;
    #pragma unroll
    for (int i = 0; i < T::SUMS; ++i) {
        const int at = BIAS_OF_ROWS ? row + i / 2 % 2 * 8 : col + i / 4 * 8 + i % 2;
        acc[i] = fmaxf(acc[i] + (at < (BIAS_OF_ROWS ? M : N) ? bias[at] : 0.0f), 0.0f);
    }
    if (N % 2 == 0) store_sums<true>(C, M, N, warp_row, block_col, 1.0f, acc);
    else store_sums<false>(C, M, N, warp_row, block_col, 1.0f, acc);
    // SOLUTION_END
}
