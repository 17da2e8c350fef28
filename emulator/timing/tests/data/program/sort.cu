// Each thread sorts 64 numbers by odd-even transposition, in a local array.
extern "C" __global__ void sort(int rounds, const float* x, float* y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float a[64];
#pragma unroll 1
    for (int i = 0; i < 64; ++i) a[i] = x[i * all + at];
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
#pragma unroll 4
        for (int i = r & 1; i < 63; i += 2) {
            float low = fminf(a[i], a[i + 1]), high = fmaxf(a[i], a[i + 1]);
            a[i] = low; a[i + 1] = high;
        }
    }
#pragma unroll 1
    for (int i = 0; i < 64; ++i) y[i * all + at] = a[i];
}
