// shared_memory.cu: each block turns its part of an array round.
constexpr int BLOCK = 128;

// ANCHOR: kernel
extern "C" __global__ void turn_round(const float* in, float* out)
{
    __shared__ float tile[BLOCK];  // one for each block
    const int first = blockIdx.x * BLOCK;
    tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();  // tile is filled -> it may be read
    out[first + threadIdx.x] = tile[BLOCK - 1 - threadIdx.x];
}
// ANCHOR_END: kernel

// ANCHOR: dynamic
extern "C" __global__ void turn_round_dynamic(const float* in, float* out)
{
    extern __shared__ float room[];  // as much as the launch asks for
    const int first = blockIdx.x * blockDim.x;
    room[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();  // room is filled -> it may be read
    out[first + threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
// ANCHOR_END: dynamic

// ANCHOR: banks
// 32 lanes read words that are `stride` apart.
extern "C" __global__ void read_strided(int stride, float* out)
{
    __shared__ float words[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += 32) words[i] = i;
    __syncthreads();  // words is filled -> it may be read
    out[threadIdx.x] = words[threadIdx.x * stride];
}
// ANCHOR_END: banks
