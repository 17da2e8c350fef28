// fragments_fixed.cu: the cube of a matrix. Each fragment is loaded as what it is multiplied as.
//
// arch: compute_80
// block: 32
// arg: X f32[256] mod4
// arg: C f32[256] empty
// expect: clean

#include "wmma.cuh"

extern "C" __global__ void cube(const float* X, float* C)
{
    __shared__ __align__(32) half tile[512];  // X, and behind it room for products

    for (int i = threadIdx.x; i < 512; i += 32) tile[i] = __float2half(X[i % 256] / 4.0f);
    __syncwarp();  // the tile is filled -> fragments may be loaded
    Factor a_frag = load_a_row(tile);
    Factor b_frag = load_b_row(tile);
    Sums square = {}, sums = {};
    multiply_rows(square, a_frag, b_frag);
    store_rows(tile + 256, square);
    __syncwarp();  // the square is stored -> it may be loaded
    a_frag = load_a_row(tile + 256);
    for (int i = 0; i < 8; ++i) {  // elements that are all treated alike
        const half2 twice = __hadd2(*(half2*)&a_frag.x[i], *(half2*)&a_frag.x[i]);
        a_frag.x[i] = *(const unsigned*)&twice;
    }
    multiply_rows(sums, a_frag, b_frag);
    __syncwarp();  // the square is read -> the product may overwrite it
    store_rows(tile + 256, sums);
    __syncwarp();  // the product is stored -> it may be read
    for (int i = threadIdx.x; i < 256; i += 32) C[i] = __half2float(tile[256 + i]);
}
