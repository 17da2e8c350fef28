// threads.cu: every thread says who it is.

// ANCHOR: kernel
extern "C" __global__ void who(int rows, int cols, int* block, int* thread)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    block[row * cols + col] = blockIdx.y * gridDim.x + blockIdx.x;
    thread[row * cols + col] = threadIdx.y * blockDim.x + threadIdx.x;
}
// ANCHOR_END: kernel

extern "C" __global__ void nothing() {}
