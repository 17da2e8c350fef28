// clocks.cu: time passes: clocks never run backwards, and nanosleep sleeps.

extern "C" __global__ void clocks(int* forward)
{
    const long long start = clock64();
    const unsigned low = clock();
    unsigned long long before, after;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    __nanosleep(100);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    const unsigned low_after = clock();
    forward[threadIdx.x] = clock64() > start && after >= before && low_after != low;
}
