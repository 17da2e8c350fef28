// warps.cu: shuffles, votes, matches and reductions inside a warp.
// arch: compute_80

constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void shuffles(const int* x, int* out)
{
    const int lane = threadIdx.x;
    const int v = x[lane];
    out[0 * 32 + lane] = __shfl_sync(ALL, v, (lane * 7) % 32);
    out[1 * 32 + lane] = __shfl_up_sync(ALL, v, 3);
    out[2 * 32 + lane] = __shfl_down_sync(ALL, v, 5);
    out[3 * 32 + lane] = __shfl_xor_sync(ALL, v, 9);
    out[4 * 32 + lane] = __shfl_sync(ALL, v, lane + 1, 8);
    out[5 * 32 + lane] = __shfl_up_sync(ALL, v, 1, 16);
    out[6 * 32 + lane] = __shfl_down_sync(ALL, v, 2, 4);
    const long long wide = __shfl_xor_sync(ALL, (long long)v << 33, 1);
    out[7 * 32 + lane] = (int)(wide >> 32);
}

extern "C" __global__ void votes(const int* x, unsigned* out)
{
    const int lane = threadIdx.x;
    const int v = x[lane];
    out[0 * 32 + lane] = __ballot_sync(ALL, v % 3 == 0);
    out[1 * 32 + lane] = __all_sync(ALL, v >= 0);
    out[2 * 32 + lane] = __any_sync(ALL, v == 12);
    out[3 * 32 + lane] = __match_any_sync(ALL, v % 5);
    int same;
    out[4 * 32 + lane] = __match_all_sync(ALL, v, &same) + same;
    out[5 * 32 + lane] = __activemask();
    if (lane % 2) {
        out[6 * 32 + lane] = __ballot_sync(0xaaaaaaaa, v > 20);
    } else {
        out[6 * 32 + lane] = __ballot_sync(0x55555555, v > 20);
    }
    out[7 * 32 + lane] = __popc(__ballot_sync(ALL, lane < v) & ((1u << lane) - 1));
}

extern "C" __global__ void reductions(const int* x, int* out)
{
    const int lane = threadIdx.x;
    const int v = x[lane];
    out[0 * 32 + lane] = __reduce_add_sync(ALL, v);
    out[1 * 32 + lane] = __reduce_min_sync(ALL, v);
    out[2 * 32 + lane] = __reduce_max_sync(ALL, v);
    out[3 * 32 + lane] = __reduce_and_sync(ALL, (unsigned)v | 0x100u);
    out[4 * 32 + lane] = __reduce_or_sync(ALL, (unsigned)v);
    out[5 * 32 + lane] = __reduce_xor_sync(ALL, (unsigned)v);
}

extern "C" __global__ void block_votes(const int* x, int* out)
{
    const int v = x[threadIdx.x];
    out[3 * threadIdx.x + 0] = __syncthreads_count(v % 2);
    out[3 * threadIdx.x + 1] = __syncthreads_and(v < 1000);
    out[3 * threadIdx.x + 2] = __syncthreads_or(v == 77);
}
