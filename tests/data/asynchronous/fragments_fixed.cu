// fragments_fixed.cu: bf16 by mma.sync, ldmatrix and a ring of cp.async, as in v12, with small tiles.
//
// arch: compute_80
// block: 128
// shared: 49152
// product: M N K alpha A/bf16 B/bf16 C
// launch: blocks 2x1 whole 0 shape 60 120 200
// launch: blocks 1x2 whole 0 shape 70 64 328
// expect: clean
#include "../../../kernels/v12_copy.cuh"  // as text

constexpr int BM = 64, BN = 64, BK = 64, STAGES = 3, THREADS = 128;
constexpr int WM = 32, WN = 32, MM = 16, MN = 8, MK = 16;
constexpr int A_BYTES = BM * BK * sizeof(Bf16), STAGE_BYTES = A_BYTES + BK * BN * sizeof(Bf16);
constexpr int A_PIECES = BK / BF16_WIDTH, B_PIECES = BN / BF16_WIDTH;

extern "C" __global__ void __launch_bounds__(THREADS)
product(int M, int N, int K, float alpha, const Bf16* A, const Bf16* B, float* C)
{
    extern __shared__ __align__(128) char shared[];
    const unsigned tiles = shared_address(shared);
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    int k_next = 0, filled = 0;
    const auto copy_next = [&]() {
        const unsigned to = tiles + filled * STAGE_BYTES;
        if (k_next < K) {
            copy_tile<BM, BK, THREADS, true>(to, A, M, K, block_row, k_next);
            copy_tile<BK, BN, THREADS, true>(to + A_BYTES, B, K, N, k_next, block_col);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        k_next += BK;
        filled = filled + 1 == STAGES ? 0 : filled + 1;
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next();

    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;
    const int row = lane % 16, piece = lane / 16;
    float acc[WM / MM][WN / MN * 4] = {};
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // The tiles in turn are here, for all threads. All are done with those before -> they may be filled again.
        asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
        __syncthreads();
        copy_next();
        const unsigned a_tile = tiles + stage * STAGE_BYTES, b_tile = a_tile + A_BYTES;
        #pragma unroll
        for (int k = 0; k < BK; k += MK) {
            unsigned a_frag[WM / MM][4], b_frag[WN / (2 * MN)][4];
            #pragma unroll
            for (int i = 0; i < WM / MM; ++i)
                load_matrices(a_frag[i], a_tile + place<A_PIECES>(warp_row + i * MM + row, k / BF16_WIDTH + piece));
            #pragma unroll
            for (int j = 0; j < WN / (2 * MN); ++j)
                load_matrices_transposed(
                    b_frag[j], b_tile + place<B_PIECES>(k + row, warp_col / BF16_WIDTH + 2 * j + piece));
            #pragma unroll
            for (int i = 0; i < WM / MM; ++i)
                #pragma unroll
                for (int j = 0; j < WN / MN; ++j) multiply_add(&acc[i][4 * j], a_frag[i], &b_frag[j / 2][j % 2 * 2]);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    #pragma unroll
    for (int i = 0; i < WM / MM; ++i)
        store_sums<true>(C, M, N, block_row + warp_row + i * MM, block_col + warp_col, alpha, acc[i]);
}
