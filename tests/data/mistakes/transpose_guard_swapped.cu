// transpose_guard_swapped.cu: the guard compares x with the height.
//
// grid: 3 3
// block: 16 16
// arg: W i32 32
// arg: H i32 48
// arg: in f32[1536] filled
// arg: out f32[1536] empty

extern "C" __global__ void transpose(int W, int H, const float* in, float* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < H && y < H)
        out[x * H + y] = in[y * W + x];
}
