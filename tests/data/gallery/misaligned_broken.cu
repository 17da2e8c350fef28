// misaligned_broken.cu: a float4 is loaded from a row that does not start on 16 bytes.
//
// grid: 1
// block: 32
// arg: pitch i32 17
// arg: x f32[544] filled
// arg: y f32[32] empty
// expect: E-ALIGN

// The sum of the first four elements of each row.
extern "C" __global__ void row_starts(int pitch, const float* x, float* y)
{
    const int row = threadIdx.x;
    const float4 v = *reinterpret_cast<const float4*>(&x[row * pitch]);
    y[row] = v.x + v.y + v.z + v.w;
}
