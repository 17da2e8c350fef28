// barriers_on_one_line_fixed.cu: the macro has one barrier, which all threads reach.
//
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

#define FILL(thread, box, x) if (thread < 48) { box[thread] = x[thread]; } else { box[thread] = 0; } __syncthreads();

extern "C" __global__ void reverse(const int* x, int* y)
{
    __shared__ int box[64];

    const int thread = threadIdx.x;
    FILL(thread, box, x)
    y[thread] = box[63 - thread];
}
