// moved_float4_clean.cu: points in a float4 whose fourth member nobody sets.
//
// grid: 2
// block: 64
// arg: x f32[384] filled
// arg: out f32[512] empty
// arg: length f32[128] empty
// expect: clean

extern "C" __global__ void turn(const float* x, float4* out, float* length)
{
    __shared__ float4 points[64];

    const int i = blockIdx.x * 64 + threadIdx.x;
    points[threadIdx.x].x = x[3 * i];
    points[threadIdx.x].y = x[3 * i + 1];
    points[threadIdx.x].z = x[3 * i + 2];
    __syncthreads();

    const float4 point = points[63 - threadIdx.x];
    out[i] = point;
    length[i] = point.x * point.x + point.y * point.y + point.z * point.z;
    __syncthreads();

    const float4 again = out[i];
    points[threadIdx.x] = make_float4(again.y, again.z, again.x, again.w);
    __syncthreads();
    out[i] = points[threadIdx.x ^ 1];
}
