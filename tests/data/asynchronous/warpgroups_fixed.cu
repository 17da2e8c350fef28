// warpgroups_fixed.cu: bf16 matrices multiplied by two warpgroups (wgmma); one thread of a third copies boxes to a ring.
//
// arch: compute_90a
// block: 384
// shared: 98352
// product: M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C
// launch: blocks 4 whole 0 shape 256 256 128
// launch: blocks 2 whole 0 shape 200 136 264
// expect: clean
#include "../../../kernels/v11_barrier.cuh"

constexpr int BM = 128, BN = 128, BK = 64;  // tile of C, and how deep the tiles of A and B are
constexpr int STAGES = 3;
constexpr int GROUP = 128;                  // threads of a warpgroup
constexpr int MULTIPLIERS = 2 * GROUP, THREADS = MULTIPLIERS + GROUP;
constexpr int GROUP_ROWS = 64;              // rows of C that a warpgroup multiplies
constexpr int ROW_BYTES = 128;              // of a tile in shared memory: as wide as the swizzle
constexpr int A_BYTES = BM * ROW_BYTES, B_BYTES = BK * BN * 2, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int FULL_AT = STAGES * STAGE_BYTES, EMPTY_AT = FULL_AT + STAGES * 8;
static_assert(BK * 2 == ROW_BYTES, "a row of the tile of A is one row of the swizzle");

// A factor in shared memory: where it starts (its low 18 bits), two distances in bytes, swizzle of 128 bytes.
__device__ __forceinline__ unsigned long long describe(unsigned start, unsigned leading, unsigned stride)
{
    const unsigned long long swizzle = 1;
    return (start & 0x3ffff) / 16 | leading / 16ull << 16 | stride / 16ull << 32 | swizzle << 62;
}

// Starts d = a * b, or d += a * b. B has neighbouring columns side by side.
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile("{\n"
        ".reg .pred adds;\n"
        "setp.ne.b32 adds, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, adds, 1, 1, 0, 1;\n"
        "}"
        :
          "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most so many groups of products are under way.
template <int GROUPS>
__device__ __forceinline__ void wait_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(GROUPS) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
product(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
        float* C)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(shared + FULL_AT + 8 * stage, 1);
            init_barrier(shared + EMPTY_AT + 8 * stage, MULTIPLIERS / GROUP);
        }
        publish_barriers();
    }
    __syncthreads();  // barriers are made -> all may use them

    const int across = (N + BN - 1) / BN, n_tiles = (M + BM - 1) / BM * across, steps = (K + BK - 1) / BK;
    int stage = 0, parity = threadIdx.x >= MULTIPLIERS;
    const auto advance = [&]() {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    };

    if (threadIdx.x >= MULTIPLIERS) {
        give_registers<40>();
        if (threadIdx.x != MULTIPLIERS) return;
        for (int tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
            const int block_row = tile / across * BM, block_col = tile % across * BN;
            for (int step = 0; step < steps; ++step) {
                wait(shared + EMPTY_AT + 8 * stage, parity);
                const unsigned to = shared + stage * STAGE_BYTES, full = shared + FULL_AT + 8 * stage;
                arrive_and_expect(full, STAGE_BYTES);
                copy_box(to, a_map, step * BK, block_row, full);
                copy_box(to + A_BYTES, b_map, block_col, step * BK, full);
                copy_box(to + A_BYTES + B_BYTES / 2, b_map, block_col + BN / 2, step * BK, full);
                advance();
            }
        }
        return;
    }

    take_registers<232>();
    const int group = threadIdx.x / GROUP, warp = threadIdx.x / WARP_SIZE % 4, lane = threadIdx.x % WARP_SIZE;
    for (int tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
        const int block_row = tile / across * BM, block_col = tile % across * BN;
        float acc[64] = {};
        unsigned before = 0;  // the barrier `empty` of the tiles of the step before
        for (int step = 0; step < steps; ++step) {
            wait(shared + FULL_AT + 8 * stage, parity);
            const unsigned tiles = shared + stage * STAGE_BYTES;
            const unsigned long long a = describe(tiles + group * GROUP_ROWS * ROW_BYTES, 16, 8 * ROW_BYTES);
            const unsigned long long b = describe(tiles + A_BYTES, B_BYTES / 2, 8 * ROW_BYTES);
            fence_products();
#pragma unroll
            for (int k = 0; k < BK / 16; ++k) multiply(acc, a + 32 / 16 * k, b + 16 * ROW_BYTES / 16 * k, step + k);
            commit_products();
            wait_products<1>();  // the step before is done -> its tiles may be overwritten
            if (step > 0 && threadIdx.x % GROUP == 0) arrive(before);
            before = shared + EMPTY_AT + 8 * stage;
            advance();
        }
        wait_products<0>();
        if (threadIdx.x % GROUP == 0) arrive(before);

        const int row = block_row + group * GROUP_ROWS + warp * 16 + lane / 4, col = block_col + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 64; ++i) {
            const int r = row + i / 2 % 2 * 8, c = col + i / 4 * 8 + i % 2;
            if (r < M && c < N) C[r * N + c] = alpha * acc[i];
        }
    }
}
