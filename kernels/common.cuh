// common.cuh: what the kernels of the ladder share: loads and stores that stop at the edges of a matrix.
//
// All matrices are row-major: X[row][col] of a rows x cols matrix lies at X[row * cols + col].
// X itself lies on 16 bytes, as every allocation does.
// Past an edge a load gives zeros, which change no sum, and a store does nothing.
#pragma once

constexpr int WARP_SIZE = 32;
constexpr int WIDTH = 4;  // floats in a float4

// X[row][col], or zero outside.
template <typename T>
__device__ __forceinline__ T load_or_zero(const T* X, int rows, int cols, int row, int col)
{
    return row < rows && col < cols ? X[row * cols + col] : T(0);
}

// X[row][col] = v, if that lies inside.
template <typename T>
__device__ __forceinline__ void store_if_inside(T* X, int rows, int cols, int row, int col, T v)
{
    if (row < rows && col < cols) X[row * cols + col] = v;
}

// Four floats in one instruction. `from` must lie on 16 bytes.
__device__ __forceinline__ float4 load4(const float* from)
{
    return *reinterpret_cast<const float4*>(from);
}

// Four floats in one instruction. `to` must lie on 16 bytes.
__device__ __forceinline__ void store4(float* to, float4 v)
{
    *reinterpret_cast<float4*>(to) = v;
}

// X[row][col .. col + 4], zeros outside. One load where all four are there and rows start on 16 bytes.
// `col` is a multiple of four.
__device__ __forceinline__ float4 load4_or_zero(const float* X, int rows, int cols, int row, int col)
{
    if (row < rows && col < cols && cols % WIDTH == 0) return load4(&X[row * cols + col]);
    return make_float4(load_or_zero(X, rows, cols, row, col + 0), load_or_zero(X, rows, cols, row, col + 1),
                       load_or_zero(X, rows, cols, row, col + 2), load_or_zero(X, rows, cols, row, col + 3));
}

// X[row][col .. col + 4] = v, as far as that lies inside. One store where load4_or_zero needs one load.
// `col` is a multiple of four.
__device__ __forceinline__ void store4_if_inside(float* X, int rows, int cols, int row, int col, float4 v)
{
    if (row < rows && col < cols && cols % WIDTH == 0) {
        store4(&X[row * cols + col], v);
        return;
    }
    store_if_inside(X, rows, cols, row, col + 0, v.x);
    store_if_inside(X, rows, cols, row, col + 1, v.y);
    store_if_inside(X, rows, cols, row, col + 2, v.z);
    store_if_inside(X, rows, cols, row, col + 3, v.w);
}
