// moved_merge_sort_clean.cu: a merge sort of 50 keys by 64 threads: it reads past the end of runs and takes nothing
// from there.
//
// grid: 1
// block: 64
// arg: x i32[50] filled
// arg: y i32[50] empty
// expect: clean

constexpr int N = 50;

extern "C" __global__ void merge_sort(const int* x, int* y)
{
    __shared__ int from[128];
    __shared__ int to[128];

    const int i = threadIdx.x;
    if (i < N) from[i] = x[i] * 37 % 101;
    __syncthreads();
    for (int width = 1; width < 64; width *= 2) {
        // One thread merges two runs; keys beyond the end are read, compared and not taken.
        if (i % (2 * width) == 0) {
            const int middle = min(i + width, N);
            const int end = min(i + 2 * width, N);
            int left = i;
            int right = middle;
            int left_key = from[left];
            int right_key = from[right];
            for (int at = i; at < end; ++at) {
                const bool takes_right = right < end & (left >= middle | right_key < left_key);
                to[at] = takes_right ? right_key : left_key;
                if (takes_right) right_key = from[++right];
                else left_key = from[++left];
            }
        }
        __syncthreads();
        from[i] = to[i];
        __syncthreads();
    }
    if (i < N) y[i] = from[i];
}
