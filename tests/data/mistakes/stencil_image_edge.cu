// stencil_image_edge.cu: an image's neighbours below and to the right.
//
// grid: 2 2
// block: 16 16
// arg: W i32 32
// arg: H i32 32
// arg: in f32[1024] filled
// arg: out f32[1024] empty

extern "C" __global__ void blur(int W, int H, const float* in, float* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        out[y * W + x] = 0.5f * (in[y * W + x] + in[(y + 1) * W + x]);
}
