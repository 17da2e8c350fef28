// volatile_and_plain_broken.cu: one side uses volatile, the other does not, and nothing orders them.
//
// block: 64
// arg: x i32[64] filled
// arg: box i32[64] empty
// arg: y i32[64] empty
// expect: E-RACE

extern "C" __global__ void reverse(const int* x, int* box, int* y)
{
    const int thread = threadIdx.x;
    box[thread] = x[thread];
    const volatile int* seen = box;
    y[thread] = seen[63 - thread];
}
