// moved_local_clean.cu: a local array, partly filled and copied, and bytes and halves of words taken out of it.
//
// grid: 1
// block: 32
// arg: x i32[32] filled
// arg: y i32[32] empty
// arg: out i32[512] empty
// expect: clean

struct Message {
    unsigned char length;
    unsigned char bytes[15];
};

extern "C" __global__ void pack(const int* x, int* y, int* out)
{
    int stack[16];
    const int n = x[threadIdx.x] % 16;
    for (int i = 0; i <= n; ++i) stack[(i * 5) % 16] = i;
#pragma unroll 1
    for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = stack[i];

    __shared__ Message messages[32];
    messages[threadIdx.x].length = n;
    for (int i = 0; i < n; ++i) messages[threadIdx.x].bytes[i] = i;
    __syncthreads();
    Message mine;
    memcpy(&mine, &messages[31 - threadIdx.x], sizeof(mine));
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < mine.length; ++i) sum += mine.bytes[i];

    // The upper half is never set; the lower one is taken out by a shift of the whole.
    __shared__ unsigned long long wide[32];
    reinterpret_cast<unsigned*>(wide)[2 * threadIdx.x] = n;
    __syncthreads();
    const unsigned long long other = wide[threadIdx.x ^ 1];
    y[threadIdx.x] = sum + static_cast<int>(other << 32 >> 32);
}
