// flag_nobody_sets_fixed.cu: the flag has the value already.
//
// budget: 2000000
// block: 64
// arg: flag i32[1] one
// arg: out i32[1] empty
// expect: clean

extern "C" __global__ void wait_for_flag(int* flag, int* out)
{
    if (threadIdx.x == 0) {
        while (*(volatile int*)flag == 0) {
        }
        *out = 1;
    }
}
