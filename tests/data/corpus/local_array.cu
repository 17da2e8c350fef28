// local_array.cu: arrays that are indexed at run time, and so live in local memory.

extern "C" __global__ void insertion_sort(int n, const int* in, int* out)
{
    constexpr int LENGTH = 16;
    int value[LENGTH];
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * LENGTH;
    if (first >= n) return;
    for (int i = 0; i < LENGTH; ++i) value[i] = in[first + i];
    for (int i = 1; i < LENGTH; ++i) {
        const int moving = value[i];
        int k = i;
        while (k > 0 && value[k - 1] > moving) {
            value[k] = value[k - 1];
            --k;
        }
        value[k] = moving;
    }
    for (int i = 0; i < LENGTH; ++i) out[first + i] = value[i];
}

extern "C" __global__ void bytes(const unsigned char* in, unsigned char* out)
{
    unsigned char seen[64];
    for (int i = 0; i < 64; ++i) seen[i] = 0;
    const int thread = threadIdx.x;
    for (int i = 0; i < 32; ++i) seen[in[(thread + i) % 64] % 64] += 1;
    unsigned char most = 0;
    for (int i = 0; i < 64; ++i) most = seen[i] > most ? seen[i] : most;
    out[thread] = most;
}
