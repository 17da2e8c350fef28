// vote_mask_fixed.cu: the mask names every lane that votes.
//
// block: 32
// arg: x i32[32] filled
// arg: y i32[32] empty
// expect: clean

extern "C" __global__ void count_even(const int* x, int* y)
{
    const unsigned even = __ballot_sync(0xffffffff, x[threadIdx.x] % 2 == 0);
    y[threadIdx.x] = __popc(even);
}
