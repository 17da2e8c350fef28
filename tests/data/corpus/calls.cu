// calls.cu: device functions that stay functions: structs by value, pointers, several results.

struct Body {
    float position[3];
    float mass;
};

struct Pair {
    int low;
    int high;
};

__device__ __noinline__ float attraction(Body a, Body b)
{
    float squared = 0.01f;
    for (int i = 0; i < 3; ++i) {
        const float d = a.position[i] - b.position[i];
        squared = fmaf(d, d, squared);
    }
    return a.mass * b.mass / squared;
}

__device__ __noinline__ Pair ordered(int a, int b)
{
    return a < b ? Pair{a, b} : Pair{b, a};
}

__device__ __noinline__ int gcd(int a, int b, int* steps)
{
    while (b != 0) {
        const int rest = a % b;
        a = b;
        b = rest;
        ++*steps;
    }
    return a;
}

extern "C" __global__ void bodies(int n, const Body* body, float* force)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        if (k != i) sum += attraction(body[i], body[k]);
    }
    force[i] = sum;
}

extern "C" __global__ void integers(int n, const int* a, const int* b, int* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Pair pair = ordered(a[i], b[i]);
    int steps = 0;
    const int divisor = gcd(pair.high, pair.low, &steps);
    out[4 * i + 0] = pair.low;
    out[4 * i + 1] = pair.high;
    out[4 * i + 2] = divisor;
    out[4 * i + 3] = steps;
}

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }

extern "C" __global__ void both(const int* a, const int* b, int* out)
{
    const int i = threadIdx.x;
    out[i] = i % 3 == 0 ? plus(a[i], b[i]) : times(a[i], b[i]);
}
