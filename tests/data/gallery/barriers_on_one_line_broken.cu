// barriers_on_one_line_broken.cu: a macro puts two barriers on one line, and threads of one warp part between them.
//
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: E-BARRIER

#define FILL(thread, box, x) if (thread < 48) { box[thread] = x[thread]; __syncthreads(); } else { box[thread] = 0; __syncthreads(); }

extern "C" __global__ void reverse(const int* x, int* y)
{
    __shared__ int box[64];

    const int thread = threadIdx.x;
    FILL(thread, box, x)
    y[thread] = box[63 - thread];
}
