// endless_behind_loop_broken.cu: a loop made of `goto` never ends; the `for` above it has ended long ago.
//
// block: 1
// budget: 2000000
// arg: n i32 4
// arg: step i32 0
// arg: y i32[4] empty
// expect: E-LOOP

extern "C" __global__ void count(int n, int step, int* y)
{
    int sum = 0;
    for (int i = 0; i < n; i += 1) y[i] = i;
again:
    sum += step;
    if (sum < n) goto again;
    y[0] = sum;
}
