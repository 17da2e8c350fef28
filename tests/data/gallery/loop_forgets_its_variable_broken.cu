// loop_forgets_its_variable_broken.cu: one branch of the loop forgets to change what the loop tests.
//
// budget: 2000000
// block: 64
// arg: n i32 64
// arg: steps i32[64] empty
// expect: E-LOOP

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
            count = count + 1;
        }
        ++count;
    }
    steps[i] = count;
}
