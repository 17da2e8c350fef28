// index_overflow_fixed.cu: the product is computed with 64 bits.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: in f32[1000] filled
// arg: out f32[1000] empty
// expect: clean

// Picks elements in an order that looks random.
extern "C" __global__ void shuffle(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const long long j = i * 4000037LL % n;
        out[i] = in[j];
    }
}
