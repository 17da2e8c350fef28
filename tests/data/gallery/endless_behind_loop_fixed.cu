// endless_behind_loop_fixed.cu: the step is above 0, so the loop ends.
//
// block: 1
// budget: 2000000
// arg: n i32 4
// arg: step i32 1
// arg: y i32[4] empty
// expect: clean

extern "C" __global__ void count(int n, int step, int* y)
{
    int sum = 0;
    for (int i = 0; i < n; i += 1) y[i] = i;
again:
    sum += step;
    if (sum < n) goto again;
    y[0] = sum;
}
