// bitonic_no_barrier.cu: no barrier between the steps of the sorting network.
//
// block: 64
// arg: x i32[64] down

extern "C" __global__ void sort(int* x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 2; k <= 64; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t && (t & k) == 0 && s[t] > s[other]) {
                int swap = s[t]; s[t] = s[other]; s[other] = swap;
            }
        }
    x[t] = s[t];
}
