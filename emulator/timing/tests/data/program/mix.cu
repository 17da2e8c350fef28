// Rounds of a mixing function on 40 words of each thread, all of which live in registers if they fit.
extern "C" __global__ void mix(int rounds, const unsigned* x, unsigned* y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned s[40];
#pragma unroll
    for (int i = 0; i < 40; ++i) s[i] = x[i * all + at];
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int i = 0; i < 40; ++i) {
            unsigned a = s[(i + 7) % 40], b = s[(i + 23) % 40];
            s[i] = (s[i] ^ (a << 5 | a >> 27)) + (b & 0x9e3779b9u) + r;
        }
    }
#pragma unroll
    for (int i = 0; i < 40; ++i) y[i * all + at] = s[i];
}
