// barrier_in_tree_broken.cu: the barrier stands under the condition of the tree, so part of a warp never comes to it.
//
// block: 64
// arg: x f32[64] filled
// arg: sum f32[1] empty
// expect: W-BARRIER

extern "C" __global__ void reduce(const float* x, float* sum)
{
    __shared__ float partial[64];

    const int thread = threadIdx.x;
    partial[thread] = x[thread];
    __syncthreads();
    for (int stride = 32; stride > 0; stride /= 2) {
        if (thread < stride) {
            partial[thread] += partial[thread + stride];
            __syncthreads();
        }
    }
    if (thread == 0) sum[0] = partial[0];
}
