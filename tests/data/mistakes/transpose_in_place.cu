// transpose_in_place.cu: input and output are the same buffer.
//
// grid: 2 2
// block: 16 16
// arg: N i32 32
// arg: x f32[1024] filled

extern "C" __global__ void transpose(int N, float* x)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    x[col * N + row] = x[row * N + col];
}
