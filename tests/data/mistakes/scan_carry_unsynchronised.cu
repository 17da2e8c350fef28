// scan_carry_unsynchronised.cu: each block adds what the block before it has written.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: sums f32[4] filled
// arg: out f32[256] filled

extern "C" __global__ void add_carry(int n, const float* sums, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0) {
        out[i] += out[blockIdx.x * blockDim.x - 1];
    }
}
