// v12_pack.cu: a matrix in the layout that tensor maps describe: row-major, each row on a line of L2.
//
// out[row][col] = in[row][col], or in[col][row] where `turned`. `pitch` elements from one row of `out` to the next.
// As turn_v11, for elements of 1, 2 and 4 bytes: a thread has neighbours that fill a word, which it stores at once.
// Launch: 32 x 8 threads, one block for each square of `out` whose rows have 128 bytes, row after row of squares.
// arch: compute_90a
#include "v12_bf16.cuh"
#include "v12_dependent.cuh"

constexpr int ROWS = 8;

// ANCHOR: kernel
template <typename T>
__device__ __forceinline__ void pack_matrix(int rows, int cols, int pitch, int turned, const T* in, T* out)
{
    constexpr int IN_WORD = sizeof(unsigned) / sizeof(T), TILE = WARP_SIZE * IN_WORD, BITS = 8 * sizeof(T);
    __shared__ T tile[TILE][TILE + IN_WORD];  // a word more: a column is in more banks than one
    const int across = (pitch + TILE - 1) / TILE, first = IN_WORD * threadIdx.x;
    const int col = blockIdx.x % across * TILE, row = blockIdx.x / across * TILE;
    let_next_begin();
    wait_for_previous();  // it may have written `in`, and may still read `out`

    #pragma unroll
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        #pragma unroll
        for (int j = 0; j < IN_WORD; ++j)
            tile[i][first + j] = turned ? load_or_zero(in, cols, rows, col + i, row + first + j)
                                        : load_or_zero(in, rows, cols, row + i, col + first + j);
    }
    __syncthreads();
    #pragma unroll
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        unsigned word = 0;
        #pragma unroll
        for (int j = 0; j < IN_WORD; ++j) {
            const unsigned next = turned ? tile[first + j][i] : tile[i][first + j];
            word |= next << j * BITS;
        }
        T* to = out + (row + i) * static_cast<long long>(pitch) + col + first;
        if (row + i < rows && col + first < pitch) *reinterpret_cast<unsigned*>(to) = word;
    }
}

#define PACK(NAME, T)                                                   \
    extern "C" __global__ void __launch_bounds__(WARP_SIZE * ROWS)      \
    NAME(int rows, int cols, int pitch, int turned, const T* in, T* out) \
    {                                                                   \
        pack_matrix(rows, cols, pitch, turned, in, out);                \
    }

PACK(pack_v12_1, unsigned char)
PACK(pack_v12, Bf16)
PACK(pack_v12_4, unsigned)
// ANCHOR_END: kernel
