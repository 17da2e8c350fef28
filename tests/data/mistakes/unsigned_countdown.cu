// unsigned_countdown.cu: an unsigned counter counts down while it is at least 0.
//
// block: 1
// budget: 3000000
// arg: n i32 100
// arg: x f32[100] filled
// arg: y f32[100] empty

extern "C" __global__ void reverse(int n, const float* x, float* y)
{
    for (unsigned i = n - 1; i >= 0; --i) {
        y[n - 1 - i] = x[i];
    }
}
