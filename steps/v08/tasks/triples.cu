// v08.triples: transposes a matrix of vectors, struct { float x, y, z; }: elements of 12 bytes.
//
// No access is 12 bytes wide, and three loads of x, y and z each touch 12 sectors of the same 12. So rows are
// moved as what they are, 96 floats for 32 vectors: lane i takes floats i, i + 32 and i + 64.
// Float w of a row of out is part w % 3 of vector w / 3, and lies in row w / 3 of the tile. With rows of the
// tile 99 floats apart, 99 % 32 == 3, neighbouring floats of out lie in neighbouring banks.
// Any rows, cols. Launch: TILE * ROWS threads, one block per TILE x TILE vectors of in.
#include "common.cuh"

constexpr int TILE = 32;            // edge of the tile, in vectors
constexpr int ROWS = 8;             // rows of the tile that the block moves at once: one for each warp
constexpr int PARTS = 3;            // floats of a vector
constexpr int LINE = TILE * PARTS;  // floats in a row of the tile
constexpr int PAD = 3;              // floats after each row of the tile
static_assert((LINE + PAD) % 32 == PARTS, "the vectors of a column must lie PARTS banks apart");

// ANCHOR: kernel
struct Vector {
    float x, y, z;
};

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_vectors(int rows, int cols, const Vector* in, Vector* out)
{
    __shared__ float tile[TILE][LINE + PAD];

    const int warp = threadIdx.x / WARP_SIZE;
    const int lane = threadIdx.x % WARP_SIZE;

    const float* from = reinterpret_cast<const float*>(in);  // rows x (cols * PARTS) floats
    const int row = blockIdx.y * TILE + warp;
    const int col = blockIdx.x * LINE + lane;
    #pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        #pragma unroll
        for (int w = 0; w < LINE; w += WARP_SIZE) {
            tile[warp + i][lane + w] = load_or_zero(from, rows, cols * PARTS, row + i, col + w);
        }
    }
    __syncthreads();  // writes to tile done -> reads may start

    float* to = reinterpret_cast<float*>(out);  // cols x (rows * PARTS) floats
    const int out_row = blockIdx.x * TILE + warp;
    const int out_col = blockIdx.y * LINE + lane;
    #pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        #pragma unroll
        for (int w = 0; w < LINE; w += WARP_SIZE) {
            const int vector = (lane + w) / PARTS;  // along the row of out: down the column of in
            const int part = (lane + w) % PARTS;
            const float v = tile[vector][(warp + i) * PARTS + part];
            store_if_inside(to, cols, rows * PARTS, out_row + i, out_col + w, v);
        }
    }
}
// ANCHOR_END: kernel
