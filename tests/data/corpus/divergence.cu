// divergence.cu: lanes of one warp take different ways, and meet again.

extern "C" __global__ void collatz(int n, int* steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = i + 1;
    int count = 0;
    while (v != 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        ++count;
    }
    steps[i] = count;
}

extern "C" __global__ void nested(int n, const int* x, int* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    int sum = 0;
    for (int a = 0; a < v % 5; ++a) {
        if ((v + a) % 3 == 0) continue;
        for (int b = 0; b < (v >> a) % 7; ++b) {
            if (b == 4 && a == 1) break;
            sum += a * 10 + b;
            if (sum > 100) goto done;
        }
        if (sum % 11 == 7) {
            y[i] = -sum;
            return;
        }
    }
done:
    y[i] = sum;
}

// Lanes wait for the lane before them: only a machine that lets all lanes make progress ends this.
extern "C" __global__ void chain(int* order)
{
    __shared__ volatile int turn;
    const int lane = threadIdx.x;
    if (lane == 0) turn = 0;
    __syncwarp();
    bool done = false;
    while (!done) {
        if (turn == lane) {
            order[lane] = lane * lane;
            turn = lane + 1;
            done = true;
        }
    }
}
