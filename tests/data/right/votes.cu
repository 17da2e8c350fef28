// votes.cu: barriers that count, and warp-wide calls of lanes that name each other.
//
// block: 64
// arg: y i32[64] empty
// gives: y 0 22
// gives: y 1 21
// gives: y 2 21

extern "C" __global__ void count_alike(int* y)
{
    const int t = threadIdx.x;
    const int most = __syncthreads_count(t % 3 == 0);
    const unsigned alike = __match_any_sync(0xffffffff, t % 3);
    int n = __popc(alike);
    if (t < 60) {
        const unsigned mask = __ballot_sync(t < 32 ? 0xffffffff : 0x0fffffff, true);
        const int other = __shfl_sync(mask, n, (t % 32) % 28);
        n = other > 0 ? n : 0;
    }
    const int none = __syncthreads_or(0);
    y[t] = t % 3 == 0 ? most : none + 21;
}
