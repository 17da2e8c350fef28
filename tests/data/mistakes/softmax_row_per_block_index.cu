// softmax_row_per_block_index.cu: the row of a block is left out: all blocks compute the first.
//
// grid: 4
// block: 64
// arg: in f32[256] filled
// arg: out f32[256] empty

extern "C" __global__ void normalise(const float* in, float* out)
{
    __shared__ float sum;
    int col = threadIdx.x;
    if (col == 0) sum = 0.0f;
    __syncthreads();
    atomicAdd(&sum, in[col]);
    __syncthreads();
    out[col] = in[col] / sum;
}
