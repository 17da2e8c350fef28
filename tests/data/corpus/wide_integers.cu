// wide_integers.cu: 128 bits, whose carries the compiler mixes between additions and subtractions.
// options: --device-int128

typedef __int128 i128;
typedef unsigned __int128 u128;

template <typename T>
__device__ void all(T a, T b, T* out)
{
    out[0] = a + b;
    out[1] = a - b;
    out[2] = a * b;
    out[3] = a / b;
    out[4] = a % b;
    out[5] = (a << 7) - (b >> 3);
    out[6] = a < b ? b - a : a - b;
    out[7] = (T)(-a);
}

extern "C" __global__ void signed_wide(int n, const i128* a, const i128* b, i128* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) all<i128>(a[i], b[i], out + 8 * i);
}

extern "C" __global__ void unsigned_wide(int n, const u128* a, const u128* b, u128* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) all<u128>(a[i], b[i], out + 8 * i);
}
