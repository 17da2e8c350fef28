// v12_pack.cu: a matrix of bf16 in the layout that tensor maps describe: row-major, each row on 16 bytes.
//
// out[row][col] = in[row][col], or in[col][row] where `turned`. `pitch` elements from one row of `out` to the next.
// As v11_pack of floats, but a thread has two neighbours, which it stores at once.
// Launch: 32 x 8 threads, one block for each 64 x 64 of `out`.
// arch: compute_90a
#include "v12_bf16.cuh"
#include "v12_dependent.cuh"

constexpr int TILE = 64, ROWS = 8;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(WARP_SIZE * ROWS)
pack_v12(int rows, int cols, int pitch, int turned, const Bf16* in, Bf16* out)
{
    __shared__ Bf16 tile[TILE][TILE + 2];  // a word more: a column of words lies in 32 banks
    const int col = blockIdx.x * TILE, row = blockIdx.y * TILE, two = 2 * threadIdx.x;
    let_next_begin();
    wait_for_previous();  // it may have written `in`, and may still read `out`

    #pragma unroll
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        #pragma unroll
        for (int j = 0; j < 2; ++j)
            tile[i][two + j] = turned ? load_or_zero(in, cols, rows, col + i, row + two + j)
                                      : load_or_zero(in, rows, cols, row + i, col + two + j);
    }
    __syncthreads();
    #pragma unroll
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        const unsigned low = turned ? tile[two][i] : tile[i][two], high = turned ? tile[two + 1][i] : tile[i][two + 1];
        Bf16* to = out + (row + i) * static_cast<long long>(pitch) + col + two;
        if (row + i < rows && col + two < pitch) *reinterpret_cast<unsigned*>(to) = low | high << 16;
    }
}
// ANCHOR_END: kernel
