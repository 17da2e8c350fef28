// loop_forgets_its_variable_fixed.cu: both branches change it.
//
// budget: 2000000
// block: 64
// arg: n i32 64
// arg: steps i32[64] empty
// expect: clean

extern "C" __global__ void collatz(int n, int* steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = i + 1;
    int count = 0;
    while (value != 1) {
        if (value % 2 == 0) {
            value = value / 2;
        } else {
            value = 3 * value + 1;
        }
        ++count;
    }
    steps[i] = count;
}
