// A local array that is indexed at run time. N: its elements. MODE: what a round does.
#ifndef TYPE
#define TYPE float
#endif
extern "C" __global__ void local_array(int rounds, float* out) {
    TYPE a[N];
    float s = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < N; ++i) a[i] = TYPE{s + i};
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
#if MODE == 0  // load, add, store
#pragma unroll 4
        for (int i = 0; i < N; ++i) reinterpret_cast<float&>(a[(i + r) & (N - 1)]) += 1.0f;
#elif MODE == 1  // load
#pragma unroll 8
        for (int i = 0; i < N; ++i) s += reinterpret_cast<float&>(a[(i + r) & (N - 1)]);
#elif MODE == 2  // store
#pragma unroll 8
        for (int i = 0; i < N; ++i) a[(i + r) & (N - 1)] = TYPE{s};
        s += 1.0f;
#elif MODE == 3  // load, another word of each lane
#pragma unroll 8
        for (int i = 0; i < N; ++i) s += reinterpret_cast<float&>(a[(i + r + threadIdx.x * 5) & (N - 1)]);
#endif
    }
    for (int i = 0; i < N; ++i) s += reinterpret_cast<float&>(a[i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
