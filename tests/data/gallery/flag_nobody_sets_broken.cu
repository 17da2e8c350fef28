// flag_nobody_sets_broken.cu: one thread waits for a flag that nobody sets.
//
// budget: 2000000
// block: 64
// arg: flag i32[1] zero
// arg: out i32[1] empty
// expect: E-LOOP

extern "C" __global__ void wait_for_flag(int* flag, int* out)
{
    if (threadIdx.x == 0) {
        while (*(volatile int*)flag == 0) {
        }
        *out = 1;
    }
}
