// gemv_float4_unaligned.cu: float4 loads from rows of 30 floats.
//
// grid: 1
// block: 32
// arg: N i32 30
// arg: A f32[960] filled
// arg: y f32[32] empty

extern "C" __global__ void row_sum(int N, const float* A, float* y)
{
    int row = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < N / 4; ++k) {
        float4 v = reinterpret_cast<const float4*>(A + row * N)[k];
        sum += v.x + v.y + v.z + v.w;
    }
    y[row] = sum;
}
