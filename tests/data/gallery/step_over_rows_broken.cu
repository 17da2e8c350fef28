// step_over_rows_broken.cu: the loop that fills the tile steps further than the block has rows of threads.
//
// block: 16 4
// arg: x f32[256] filled
// arg: y f32[256] empty
// expect: W-UNINIT

#define TILE 16

extern "C" __global__ void transpose(const float* x, float* y)
{
    __shared__ float tile[TILE][TILE + 1];

    const int col = threadIdx.x, row = threadIdx.y;
    for (int j = 0; j < TILE; j += 8) tile[row + j][col] = x[(row + j) * TILE + col];
    __syncthreads();
    for (int j = 0; j < TILE; j += 4) y[(row + j) * TILE + col] = tile[col][row + j];
}
