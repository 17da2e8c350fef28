// arrive_and_wait.cu: one warp fills a buffer, another one empties it; each arrives at one barrier and waits at the other.
//
// grid: 2
// block: 64
// arg: rounds i32 5
// arg: y i32[64] empty
// gives: y 0 10
// gives: y 33 25

extern "C" __global__ void hand_over(int rounds, int* y)
{
    __shared__ int buffer[32];

    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int round = 0; round < rounds; ++round) {
            asm volatile("barrier.sync 1, 64;" ::: "memory");    // it is empty
            buffer[lane] = round + 3 * blockIdx.x * (lane & 1);
            asm volatile("barrier.arrive 2, 64;" ::: "memory");  // it is full
        }
    } else {
        int sum = 0;
        asm volatile("barrier.arrive 1, 64;" ::: "memory");
        for (int round = 0; round < rounds; ++round) {
            asm volatile("barrier.sync 2, 64;" ::: "memory");
            sum += buffer[31 - lane];
            if (round + 1 < rounds) asm volatile("barrier.arrive 1, 64;" ::: "memory");
        }
        y[32 * blockIdx.x + (31 - lane)] = sum;
    }
}
