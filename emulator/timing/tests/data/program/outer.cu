// C = A^T B: a tile of 8 x 8 of each thread, without shared memory. A is k x m, B is k x n.
extern "C" __global__ void outer(int m, int n, int k, const float* a, const float* b, float* c) {
    int row = (blockIdx.y * 16 + threadIdx.x / 16) * 8, col = (blockIdx.x * 16 + threadIdx.x % 16) * 8;
    float acc[8][8] = {};
#pragma unroll 1
    for (int p = 0; p < k; ++p) {
        float u[8], v[8];
        reinterpret_cast<float4*>(u)[0] = *reinterpret_cast<const float4*>(a + p * m + row);
        reinterpret_cast<float4*>(u)[1] = *reinterpret_cast<const float4*>(a + p * m + row + 4);
        reinterpret_cast<float4*>(v)[0] = *reinterpret_cast<const float4*>(b + p * n + col);
        reinterpret_cast<float4*>(v)[1] = *reinterpret_cast<const float4*>(b + p * n + col + 4);
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) acc[i][j] += u[i] * v[j];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) c[(row + i) * n + col + j] = acc[i][j];
}
