// Tiles arrive by cp.async, two rounds apart, in two buffers.
constexpr int E = 32;

__device__ __forceinline__ void copy(float* to, const float* from, bool inside)
{
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

extern "C" __global__ void __launch_bounds__(E * E)
sgemm_v02_tile32(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a[2][E][E], b[2][E][E];
    const int y = threadIdx.x / E, x = threadIdx.x % E;
    const int row = blockIdx.y * E + y, col = blockIdx.x * E + x;
    auto fetch = [&](int to, int k0) {
        const bool in_a = row < M && k0 + x < K, in_b = k0 + y < K && col < N;
        copy(&a[to][y][x], in_a ? A + row * K + k0 + x : A, in_a);
        copy(&b[to][y][x], in_b ? B + (k0 + y) * N + col : B, in_b);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum = 0;
    fetch(0, 0);
    for (int k0 = 0, now = 0; k0 < K; k0 += E, now ^= 1) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        if (k0 + E < K) fetch(now ^ 1, k0 + E);
        #pragma unroll 8
        for (int k = 0; k < E; ++k) sum += a[now][y][k] * b[now][k][x];
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
