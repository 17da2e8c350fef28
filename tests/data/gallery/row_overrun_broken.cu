// row_overrun_broken.cu: the first column of a row reads the first element of the next row.
//
// block: 16 16
// arg: in f32[256] filled
// arg: out f32[256] empty
// expect: E-OOB

constexpr int TILE = 16;

extern "C" __global__ void reverse_rows(const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];
    const int row = threadIdx.y;
    const int col = threadIdx.x;
    tile[row][col] = in[row * TILE + col];
    __syncthreads();
    out[row * TILE + col] = tile[row][TILE - col];
}
