// registers_and_local.cu: where a thread's own array lives.
constexpr int LENGTH = 8;

// ANCHOR: kernel
// Every index is known when this is compiled: the array becomes registers.
extern "C" __global__ void in_registers(const int* in, int* out)
{
    int own[LENGTH];
    #pragma unroll
    for (int i = 0; i < LENGTH; ++i) own[i] = in[i * blockDim.x + threadIdx.x];
    int sum = 0;
    #pragma unroll
    for (int i = 0; i < LENGTH; ++i) sum += own[LENGTH - 1 - i] * (i + 1);
    out[threadIdx.x] = sum;
}

// An index is known only at run time, and registers have no addresses: the array goes to local memory.
extern "C" __global__ void in_local(const int* in, const int* order, int* out)
{
    int own[LENGTH];
    #pragma unroll
    for (int i = 0; i < LENGTH; ++i) own[i] = in[i * blockDim.x + threadIdx.x];
    int sum = 0;
    #pragma unroll 1
    for (int i = 0; i < LENGTH; ++i) sum += own[order[i]] * (i + 1);
    out[threadIdx.x] = sum;
}
// ANCHOR_END: kernel
