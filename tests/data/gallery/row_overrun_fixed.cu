// row_overrun_fixed.cu: the last column of a row is TILE - 1.
//
// block: 16 16
// arg: in f32[256] filled
// arg: out f32[256] empty
// expect: clean

constexpr int TILE = 16;

extern "C" __global__ void reverse_rows(const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];
    const int row = threadIdx.y;
    const int col = threadIdx.x;
    tile[row][col] = in[row * TILE + col];
    __syncthreads();
    out[row * TILE + col] = tile[row][TILE - 1 - col];
}
