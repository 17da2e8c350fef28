// dynamic_shared_elements_fixed.cu: 64 floats are 256 bytes.
//
// block: 64
// shared: 256
// arg: in f32[64] filled
// arg: out f32[64] empty
// expect: clean

extern "C" __global__ void reverse(const float* in, float* out)
{
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
