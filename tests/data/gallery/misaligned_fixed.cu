// misaligned_fixed.cu: rows are padded to a multiple of four floats.
//
// grid: 1
// block: 32
// arg: pitch i32 20
// arg: x f32[640] filled
// arg: y f32[32] empty
// expect: clean

// The sum of the first four elements of each row.
extern "C" __global__ void row_starts(int pitch, const float* x, float* y)
{
    const int row = threadIdx.x;
    const float4 v = *reinterpret_cast<const float4*>(&x[row * pitch]);
    y[row] = v.x + v.y + v.z + v.w;
}
