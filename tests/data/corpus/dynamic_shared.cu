// dynamic_shared.cu: two arrays carved out of dynamic shared memory.

extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void carve(int n, const float* x, float* y)
{
    float* values = reinterpret_cast<float*>(memory);
    int* order = reinterpret_cast<int*>(values + n);
    const int i = threadIdx.x;
    if (i < n) {
        values[i] = x[i];
        order[i] = n - 1 - i;
    }
    __syncthreads();
    if (i < n) y[i] = values[order[i]];
}
