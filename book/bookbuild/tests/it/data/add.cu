// a kernel
// ANCHOR: kernel
__global__ void add(int n, float* x)
{
    // ANCHOR: map
    // SOLUTION(v01): let neighbouring lanes have neighbouring words
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // STARTER| const int i = 0;
    // SOLUTION_END
    // ANCHOR_END: map
    // ANCHOR: nothing
    // ANCHOR_END: nothing
    // ANCHOR: open
    if (i < n) x[i] += 1.0f;
}
// ANCHOR_END: kernel
