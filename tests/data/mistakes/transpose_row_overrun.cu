// transpose_row_overrun.cu: the padding column is used as if it was data: tile[y][32] is tile[y + 1][0].
//
// grid: 1
// block: 32 32
// arg: in f32[1024] filled
// arg: out f32[1024] empty

#define TILE 32
extern "C" __global__ void shift_and_transpose(const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];
    int i = threadIdx.y * TILE + threadIdx.x;
    tile[threadIdx.y][threadIdx.x + 1] = in[i];
    __syncthreads();
    out[threadIdx.x * TILE + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
