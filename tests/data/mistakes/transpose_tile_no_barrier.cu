// transpose_tile_no_barrier.cu: the tile is read before all have filled it.
//
// grid: 2 2
// block: 32 8
// arg: N i32 64
// arg: in f32[4096] filled
// arg: out f32[4096] empty

#define TILE 32
extern "C" __global__ void transpose(int N, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * N + x];
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        out[(y + j) * N + x] = tile[threadIdx.x][threadIdx.y + j];
}
