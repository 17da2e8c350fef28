// C = A * B by persistent blocks: one thread copies boxes of A and B into a ring in shared memory, two groups of warps
// multiply them, and C goes back as boxes.
//
// A box of A has 64-byte rows and a swizzle of 64 bytes, boxes of B and C have none. Any M, N, K whose rows are
// multiples of 16 bytes. Launch: 384 threads, SHARED_BYTES of shared memory.
// arch: compute_90a

struct alignas(64) TensorMap {
    unsigned long long opaque[16];
};

constexpr int BM = 64, BN = 64, BK = 16, STAGES = 3, WORKERS = 256;
constexpr int A_BYTES = BM * BK * 4, B_BYTES = BK * BN * 4, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int C_AT = STAGES * STAGE_BYTES, BARRIERS_AT = C_AT + BM * BN * 4;

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void wait(unsigned barrier, int parity)
{
    asm volatile(
        "{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
            barrier),
        "r"(parity)
        : "memory");
}

__device__ void arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void arrive_and_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ void load_box(unsigned to, const TensorMap& map, int x, int y, unsigned barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
}

__device__ void store_box(const TensorMap& map, int x, int y, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y),
                 "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(384, 1)
    product(int M, int N, int K, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
            const __grid_constant__ TensorMap c_map)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned base = shared_address(shared), full = base + BARRIERS_AT, empty = full + STAGES * 8;
    const int thread = threadIdx.x;
    const int columns = (N + BN - 1) / BN, tiles = (M + BM - 1) / BM * columns, steps = (K + BK - 1) / BK;

    if (thread == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&a_map) : "memory");
        for (int stage = 0; stage < STAGES; ++stage) {
            init(full + stage * 8, 1);
            init(empty + stage * 8, WORKERS / 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    if (thread >= WORKERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread > WORKERS) return;
        int stage = 0, parity = 1;  // a new barrier lets a wait for parity 1 pass
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            for (int step = 0; step < steps; ++step) {
                wait(empty + stage * 8, parity);
                const unsigned to = base + stage * STAGE_BYTES;
                arrive_and_expect(full + stage * 8, STAGE_BYTES);
                load_box(to, a_map, step * BK, tile / columns * BM, full + stage * 8);
                load_box(to + A_BYTES, b_map, tile % columns * BN, step * BK, full + stage * 8);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float* c_tile = reinterpret_cast<float*>(shared + C_AT);
    const int row = thread / 16 * 4, column = thread % 16 * 4;
    int stage = 0, parity = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float acc[4][4] = {};
        for (int step = 0; step < steps; ++step) {
            wait(full + stage * 8, parity);
            const char* a_tile = shared + stage * STAGE_BYTES;
            const float* b_tile = reinterpret_cast<const float*>(a_tile + A_BYTES);
            for (int k = 0; k < BK; ++k) {
                float a[4];
                for (int i = 0; i < 4; ++i) {
                    const int at = (row + i) * 64 + k * 4;  // pieces of 16 bytes change places by the number of the row
                    a[i] = *reinterpret_cast<const float*>(a_tile + (at ^ (at >> 3 & 0x30)));
                }
                const float4 b = *reinterpret_cast<const float4*>(&b_tile[k * BN + column]);
                for (int i = 0; i < 4; ++i) {
                    acc[i][0] += a[i] * b.x;
                    acc[i][1] += a[i] * b.y;
                    acc[i][2] += a[i] * b.z;
                    acc[i][3] += a[i] * b.w;
                }
            }
            __syncwarp();
            if (thread % 32 == 0) arrive(empty + stage * 8);
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
        // the copy of the tile before has read shared memory
        if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("bar.sync 1, 256;" ::: "memory");
        for (int i = 0; i < 4; ++i)
            *reinterpret_cast<float4*>(&c_tile[(row + i) * BN + column]) =
                make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (thread == 0) store_box(c_map, tile % columns * BN, tile / columns * BM, base + C_AT);
    }
    if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
