// integers.cu: 8, 16, 32 and 64 bits, signed and unsigned.

template <typename T>
__device__ T mixed(T a, T b)
{
    T v = a * b + (a >> 1) - (b << 2);
    v = v ^ (a & b) | (T)~b;
    v = v + (b == 0 ? a : a / b) - (b == 0 ? T(1) : a % b);
    return v > a ? v : (T)(v + 3);
}

extern "C" __global__ void small(int n, const signed char* a, const signed char* b, signed char* s8,
                                 unsigned char* u8, short* s16, unsigned short* u16)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s8[i] = mixed<signed char>(a[i], b[i]);
    u8[i] = mixed<unsigned char>(a[i], b[i]);
    s16[i] = mixed<short>(a[i] * 100, b[i] * 3);
    u16[i] = mixed<unsigned short>(a[i] * 100, b[i] * 3);
}

extern "C" __global__ void large(int n, const long long* a, const long long* b, int* s32, unsigned* u32,
                                 long long* s64, unsigned long long* u64)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s32[i] = mixed<int>((int)a[i], (int)b[i]);
    u32[i] = mixed<unsigned>((unsigned)a[i], (unsigned)b[i]);
    s64[i] = mixed<long long>(a[i], b[i]);
    u64[i] = mixed<unsigned long long>(a[i], b[i]);
}

extern "C" __global__ void wide(int n, const long long* a, const long long* b, long long* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[8 * i + 0] = __mulhi((int)a[i], (int)b[i]);
    out[8 * i + 1] = __umulhi((unsigned)a[i], (unsigned)b[i]);
    out[8 * i + 2] = __mul64hi(a[i], b[i]);
    out[8 * i + 3] = (long long)__umul64hi(a[i], b[i]);
    out[8 * i + 4] = (long long)(int)a[i] * (int)b[i];
    out[8 * i + 5] = __popcll(a[i]) + 100 * __clzll(b[i]) + 10000 * __ffsll(a[i]);
    out[8 * i + 6] = (long long)__brevll(a[i]);
    out[8 * i + 7] = __mul24((int)a[i], (int)b[i]) + (long long)__umul24((unsigned)a[i], (unsigned)b[i]);
}
