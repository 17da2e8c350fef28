// mma_in_branch_fixed.cu: lanes without data give zeros, and all lanes multiply.
//
// arch: compute_80
// block: 32
// arg: n i32 20
// arg: x f32[32] filled
// arg: y f32[128] empty
// expect: clean

extern "C" __global__ void multiply(int n, const float* x, float* y)
{
    const int t = threadIdx.x;
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const unsigned a = __float_as_uint(t < n ? x[t] : 0.0f);
    if (t < 32) {
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a));
    }
    for (int i = 0; i < 4; ++i) y[i * 32 + t] = d[i];
}
