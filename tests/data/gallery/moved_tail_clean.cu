// moved_tail_clean.cu: whole vectors are loaded where only a part of the last one has data.
//
// grid: 1
// block: 32
// arg: x f32[125] filled
// arg: y f32[125] empty
// arg: sums f32[32] empty
// expect: clean

constexpr int N = 125;

extern "C" __global__ void by_four(const float* x, float* y, float* sums)
{
    __shared__ float4 row[32];

    float* flat = reinterpret_cast<float*>(row);
    for (int i = threadIdx.x; i < N; i += 32) flat[i] = x[i];
    __syncthreads();

    const int first = 4 * threadIdx.x;
    const float4 four = row[threadIdx.x];
    const float values[] = {four.x, four.y, four.z, four.w};
    float sum = 0.0f;
#pragma unroll
    for (int at = 0; at < 4; ++at) {
        sum += first + at < N ? values[at] : 0.0f;
        if (first + at < N) y[first + at] = values[at] * 2.0f;
    }
    sums[threadIdx.x] = sum;
}
