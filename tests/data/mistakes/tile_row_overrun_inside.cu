// tile_row_overrun_inside.cu: a row of the tile is read one too far, and the next row is there.
//
// block: 16 16
// arg: in f32[256] filled
// arg: out f32[256] empty

#define TILE 16

extern "C" __global__ void differences(const float* in, float* out)
{
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = ty * TILE + tx;
    tile[ty][tx] = in[i];
    __syncthreads();
    if (i < TILE * TILE - 1) out[i] = tile[ty][tx + 1] - tile[ty][tx];
    else out[i] = 0.0f;
}
