// transpose_swapped_pitch.cu: the output is written with the pitch of the input.
//
// grid: 2 3
// block: 16 16
// arg: W i32 32
// arg: H i32 48
// arg: in f32[1536] filled
// arg: out f32[1536] empty

extern "C" __global__ void transpose(int W, int H, const float* in, float* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        out[x * W + y] = in[y * W + x];
}
