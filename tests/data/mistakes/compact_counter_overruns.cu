// compact_counter_overruns.cu: more elements are kept than the output has room for.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in i32[256] filled
// arg: count i32[1] zero
// arg: out i32[100] empty

extern "C" __global__ void keep_even(int n, const int* in, int* count, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2 == 0) {
        int at = atomicAdd(count, 1);
        out[at] = in[i];
    }
}
