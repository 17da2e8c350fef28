// v12_mma_ring.cu: tensor cores, one warp at a time (mma.sync).
//
// A warp multiplies 16 x 16 of A by 16 x 8 of B in one instruction; its 32 lanes hold the three matrices together.
// ldmatrix brings fragments from shared memory in that layout, B's transposed on the way. cp.async keeps the next
// tiles coming, as in v11_async_copy. A warp owns 64 x 64 of C: 8 loads of fragments for 32 products, and those of the
// next 16 k are loaded while it multiplies.
// C = alpha * A * B, A and B of bf16, sums of float, C of float or bf16. Any M, N, K; where a row of A or B does not
// start on 16 bytes, tiles are copied number by number.
// Launch: THREADS threads, one block per BM x BN of C, SHARED_BYTES of dynamic shared memory.
// arch: compute_80
#include "v12_copy.cuh"

// ANCHOR: constants
constexpr int BM = 256, BN = 128, BK = 64;
constexpr int WM = 64, WN = 64;          // of a warp
constexpr int MM = 16, MN = 8, MK = 16;  // of an instruction
constexpr int STAGES = 3;
constexpr int COPIES_AT = MK;            // which k of a tile the next copies start at
constexpr int THREADS = BM / WM * (BN / WN) * WARP_SIZE;
constexpr int A_BYTES = BM * BK * sizeof(Bf16), STAGE_BYTES = A_BYTES + BK * BN * sizeof(Bf16);
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES;
constexpr int A_PIECES = BK / BF16_WIDTH, B_PIECES = BN / BF16_WIDTH;  // of a row of a tile
// ANCHOR_END: constants

// ANCHOR: kernel
template <bool ON_16_BYTES, typename Out>
__device__ __forceinline__ void multiply(int M, int N, int K, float alpha, const Bf16* A, const Bf16* B, Out* C)
{
    extern __shared__ __align__(128) char shared[];
    const unsigned tiles = shared_address(shared);
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;

    // ANCHOR: load
    // Each call is one group of copies: the tiles from k_next on, and zeros past the last. A branch around them would
    // keep ptxas from mixing them with products: only where numbers are copied one by one is it worth its price.
    int k_next = 0, filled = 0;
    const auto copy_next = [&]() {
        const unsigned to = tiles + filled * STAGE_BYTES;
        if (ON_16_BYTES || k_next < K) {
            copy_tile<BM, BK, THREADS, ON_16_BYTES>(to, A, M, K, block_row, k_next);
            copy_tile<BK, BN, THREADS, ON_16_BYTES>(to + A_BYTES, B, K, N, k_next, block_col);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        k_next += BK;
        filled = filled + 1 == STAGES ? 0 : filled + 1;
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next();
    // ANCHOR_END: load

    // ANCHOR: map
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;
    // Lane i names row i % 16 of what ldmatrix brings, and its first or second piece. The rows of all fragments differ
    // by multiples of 8, so that the swizzle is the same.
    const int row = lane % 16, piece = lane / 16;
    // ANCHOR_END: map

    // ANCHOR: fragments
    unsigned a_frag[2][WM / MM][4], b_frag[2][WN / (2 * MN)][4];
    int stage = 0;
    const auto load_fragments = [&](int to, int k) {
        const unsigned a_tile = tiles + stage * STAGE_BYTES, b_tile = a_tile + A_BYTES;
        #pragma unroll
        for (int i = 0; i < WM / MM; ++i)
            load_matrices(a_frag[to][i], a_tile + place<A_PIECES>(warp_row + i * MM + row, k / BF16_WIDTH + piece));
        #pragma unroll
        for (int j = 0; j < WN / (2 * MN); ++j)
            load_matrices_transposed(b_frag[to][j],
                                     b_tile + place<B_PIECES>(k + row, warp_col / BF16_WIDTH + 2 * j + piece));
    };
    // ANCHOR_END: fragments
    const auto wait_for_tiles = [&]() {
        // The next tiles are here, for all threads. All have loaded what they need of those before -> they may be
        // filled again.
        asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
        __syncthreads();
    };

    float acc[WM / MM][WN / MN * 4] = {};
    wait_for_tiles();
    load_fragments(0, 0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        // ANCHOR: compute
        #pragma unroll
        for (int k = 0; k < BK; k += MK) {
            const int now = k / MK % 2;
            if (k + MK < BK) {
                load_fragments(1 - now, k + MK);
                if (k == COPIES_AT) copy_next();  // behind the loads: these are waited for first
            } else {
                wait_for_tiles();
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                if (k0 + BK < K) load_fragments(1 - now, 0);
            }
            #pragma unroll
            for (int i = 0; i < WM / MM; ++i) {
                #pragma unroll
                for (int j = 0; j < WN / MN; ++j)
                    multiply_add(&acc[i][4 * j], a_frag[now][i], &b_frag[now][j / 2][j % 2 * 2]);
            }
        }
        // ANCHOR_END: compute
    }

    // ANCHOR: store
    #pragma unroll
    for (int i = 0; i < WM / MM; ++i)
        store_sums<ON_16_BYTES>(C, M, N, block_row + warp_row + i * MM, block_col + warp_col, alpha, acc[i]);
    // ANCHOR_END: store
}

template <typename Out>
__device__ __forceinline__ void multiply_any(int M, int N, int K, float alpha, const Bf16* A, const Bf16* B, Out* C)
{
    if (N % BF16_WIDTH == 0 && K % BF16_WIDTH == 0) multiply<true>(M, N, K, alpha, A, B, C);
    else multiply<false>(M, N, K, alpha, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_v12_mma_ring_f32(int M, int N, int K, float alpha, const Bf16* A, const Bf16* B, float* C)
{
    multiply_any(M, N, K, alpha, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_v12_mma_ring_bf16(int M, int N, int K, float alpha, const Bf16* A, const Bf16* B, Bf16* C)
{
    multiply_any(M, N, K, alpha, A, B, C);
}
// ANCHOR_END: kernel
