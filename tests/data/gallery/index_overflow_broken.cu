// index_overflow_broken.cu: a product does not fit in an int, and the index becomes negative.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: in f32[1000] filled
// arg: out f32[1000] empty
// expect: E-OOB

// Picks elements in an order that looks random.
extern "C" __global__ void shuffle(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int j = i * 4000037 % n;
        out[i] = in[j];
    }
}
