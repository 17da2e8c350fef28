// dynamic_shared_elements_broken.cu: the launch gives dynamic shared memory in elements, and it is counted in bytes.
//
// block: 64
// shared: 64
// arg: in f32[64] filled
// arg: out f32[64] empty
// expect: E-OOB

extern "C" __global__ void reverse(const float* in, float* out)
{
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
