// look_back.cu: a scan in one pass: each block publishes its sum, and looks back at what those before it published.
//
// grid: 8
// block: 32
// arg: x i32[256] filled
// arg: y i32[256] empty
// arg: sums i32[8] zero
// arg: prefixes i32[8] zero
// arg: flags i32[8] zero
// arg: next i32[1] zero
// gives: y 0 0
// gives: y 100 5050
// gives: y 255 32640

extern "C" __global__ void scan(const int* x, int* y, volatile int* sums, volatile int* prefixes, volatile int* flags, int* next)
{
    const int lane = threadIdx.x;
    int block = 0;
    if (lane == 0) block = atomicAdd(next, 1);
    block = __shfl_sync(0xffffffff, block, 0);

    int value = x[32 * block + lane];
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step) value += before;
    }
    int prefix = 0;
    if (lane == 31) {
        sums[block] = value;
        __threadfence();
        flags[block] = 1;
        for (int other = block - 1; other >= 0; --other) {
            int flag;
            do { flag = flags[other]; } while (flag == 0);
            __threadfence();
            if (flag == 2) {
                prefix += prefixes[other];
                break;
            }
            prefix += sums[other];
        }
        prefixes[block] = prefix + value;
        __threadfence();
        flags[block] = 2;
    }
    prefix = __shfl_sync(0xffffffff, prefix, 31);
    y[32 * block + lane] = prefix + value;
}
