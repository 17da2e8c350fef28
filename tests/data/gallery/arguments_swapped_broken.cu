// arguments_swapped_broken.cu: the launch gives the pointers first, and the kernel wants n first.
//
// grid: 4
// block: 256
// arg: in f32[1000] filled
// arg: out f32[1000] empty
// arg: n i32 1000
// expect: E-OOB

extern "C" __global__ void twice(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2.0f * in[i];
    }
}
