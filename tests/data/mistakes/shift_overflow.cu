// shift_overflow.cu: a power of two beyond 31 bits as a stride.
//
// grid: 1
// block: 64
// arg: log i32 26
// arg: n i32 1000
// arg: x f32[1000] filled
// arg: y f32[64] empty

extern "C" __global__ void pick(int log, int n, const float* x, float* y)
{
    int i = threadIdx.x;
    int stride = 1 << log;
    y[i] = x[i * stride % n];
}
