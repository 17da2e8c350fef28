// index_overflows_int.cu: row * pitch does not fit in an int.
//
// grid: 1
// block: 64
// arg: pitch i32 50000
// arg: x f32[1000] filled
// arg: y f32[64] empty

extern "C" __global__ void pick(int pitch, const float* x, float* y)
{
    int row = 49950 + threadIdx.x;
    y[threadIdx.x] = x[row * pitch % 1000];
}
