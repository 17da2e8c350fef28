// qualifiers.cu: who may call what, and from where.

// ANCHOR: kernel
// Runs on the device, called from the device. Usually inlined.
__device__ float square(float x)
{
    return x * x;
}

// Compiled twice: for the device and, by nvcc, for the host.
__host__ __device__ float cube(float x)
{
    return x * x * x;
}

// Runs on the device, launched from the host. `extern "C"` keeps its name as written.
// __launch_bounds__(128): never more threads in a block, so the compiler may spend more registers on each.
extern "C" __global__ void __launch_bounds__(128) powers(int n, const float* x, float* squares, float* cubes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    squares[i] = square(x[i]);
    cubes[i] = cube(x[i]);
}
// ANCHOR_END: kernel
