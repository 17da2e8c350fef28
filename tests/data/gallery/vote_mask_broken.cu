// vote_mask_broken.cu: all lanes vote, and the mask names half of them.
//
// block: 32
// arg: x i32[32] filled
// arg: y i32[32] empty
// expect: E-SYNC-MASK

extern "C" __global__ void count_even(const int* x, int* y)
{
    const unsigned even = __ballot_sync(0x0000ffff, x[threadIdx.x] % 2 == 0);
    y[threadIdx.x] = __popc(even);
}
