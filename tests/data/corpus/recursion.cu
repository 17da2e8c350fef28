// Functions that call themselves: to depths that differ from lane to lane, through each other, with arrays of their own.

typedef unsigned int u32;

__device__ __noinline__ u32 factorial(u32 n) { return n < 2 ? 1 : n * factorial(n - 1); }

__device__ __noinline__ u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ u32 ackermann(u32 m, u32 n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ u32 is_odd(u32 n);

__device__ __noinline__ u32 is_even(u32 n) { return n == 0 ? 1 : is_odd(n - 1); }

__device__ __noinline__ u32 is_odd(u32 n) { return n == 0 ? 0 : is_even(n - 1); }

// Every lane goes to a depth of its own.
extern "C" __global__ void depths(u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = factorial(i % 13);
    out[4 * i + 1] = fibonacci(i % 11);
    out[4 * i + 2] = ackermann(i % 3, i % 5);
    out[4 * i + 3] = is_even(i % 23);
}

__device__ __noinline__ void quicksort(int *a, int low, int high) {
    if (low >= high) return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}

// Each thread sorts 16 numbers in an array of its own.
extern "C" __global__ void sort16(int *data) {
    int a[16];
    int *own = data + 16 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < 16; i++) a[i] = own[i];
    quicksort(a, 0, 15);
    for (int i = 0; i < 16; i++) own[i] = a[i];
}

// Each activation has an array of its own, and looks at it again after deeper ones have filled theirs.
__device__ __noinline__ u32 arrays(u32 depth, u32 seed) {
    u32 a[4];
    for (u32 i = 0; i < 4; i++) a[i] = seed * (i + 1);
    u32 below = depth == 0 ? 0 : arrays(depth - 1, seed + a[depth & 3]);
    u32 sum = below;
    for (u32 i = 0; i < 4; i++) sum = 31 * sum + a[(i + depth) & 3];
    return sum;
}

extern "C" __global__ void own_arrays(u32 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = arrays(i % 7, i);
}

struct Pair {
    u32 low, high;
    double scale;
};

__device__ __noinline__ Pair halves(Pair p, int depth) {
    if (depth == 0 || p.low + 1 >= p.high) return p;
    u32 middle = (p.low + p.high) / 2;
    Pair a = {p.low, middle, p.scale / 2}, b = {middle, p.high, p.scale * 2};
    Pair x = halves(a, depth - 1), y = halves(b, depth - 1);
    Pair r = {x.low + y.low, x.high ^ y.high, x.scale + y.scale};
    return r;
}

// Structs as arguments and results.
extern "C" __global__ void pairs(double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair p = {(u32)i, (u32)(3 * i + 7), 1.0};
    Pair r = halves(p, i % 5);
    out[i] = r.low + 1000.0 * r.high + 0.125 * r.scale;
}

// The whole block calls down together and meets at a barrier in every activation.
__device__ __noinline__ u32 tree_sum(u32 *tile, u32 width) {
    if (width == 0) {
        __syncthreads();
        return tile[0];
    }
    if (threadIdx.x < width) tile[threadIdx.x] += tile[threadIdx.x + width];
    __syncthreads();
    return tree_sum(tile, width / 2) + width;
}

extern "C" __global__ void barriers_in_calls(u32 *out) {
    __shared__ u32 tile[128];
    u32 sum = 0;
    for (int round = 0; round < 3; round++) {
        tile[threadIdx.x] = threadIdx.x + round + blockIdx.x;
        __syncthreads();
        sum += tree_sum(tile, 64);
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Some lanes end deep inside, the others return.
__device__ __noinline__ u32 leave(u32 n, u32 *out) {
    if (n == 3) {
        *out = 77;
        asm volatile("exit;");
    }
    return n == 0 ? 5 : leave(n - 1, out) + 1;
}

extern "C" __global__ void exits(u32 *out) {
    u32 i = threadIdx.x;
    out[i] = i % 2 ? leave(i % 3, out + i) : leave(i, out + i);
}
