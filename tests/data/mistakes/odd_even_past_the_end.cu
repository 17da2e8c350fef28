// odd_even_past_the_end.cu: the last pair of an odd round reaches past the end.
//
// block: 32
// arg: n i32 64
// arg: x i32[64] down

extern "C" __global__ void sort(int n, int* x)
{
    for (int round = 0; round < n; ++round) {
        int i = 2 * threadIdx.x + round % 2;
        if (x[i] > x[i + 1]) {
            int swap = x[i];
            x[i] = x[i + 1];
            x[i + 1] = swap;
        }
        __syncthreads();
    }
}
