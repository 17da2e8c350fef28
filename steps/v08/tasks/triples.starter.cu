// v08.triples, a transfer task of 50 minutes: A matrix of vectors: elements of 12 bytes.
//
// Transpose a matrix whose elements are struct { float x, y, z; }: out[col][row] = in[row][col], 12
// bytes each. A block of 256 threads owns 32 x 32 vectors.
//
// Judged: right on every shape with all checks clean; at most 0.5625 sectors for each vector, read
// and written (12 bytes are 0.375); no excess wavefront. Moving x, y and z by three accesses
// touches each sector three times.
//
// Check it with: cargo xtask check v08.triples
//
// Launch: blocks of 256 threads along x, one block per 32 x 32 of in: blockIdx.x counts tiles along
// cols, blockIdx.y along rows.
#include "common.cuh"

struct Vector {
    float x, y, z;
};

extern "C" __global__ void __launch_bounds__(256)
transpose_vectors(int rows, int cols, const Vector* in, Vector* out)
{
    // TODO(v08): everything
}
