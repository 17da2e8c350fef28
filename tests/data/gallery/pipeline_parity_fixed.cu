// pipeline_parity_fixed.cu: the parity of the readers' wait changes with each round.
//
// arch: compute_90
// block: 128
// arg: x i32[1536] filled
// arg: y i32[96] empty
// arg: n i32 8
// expect: clean

#include "mbarrier.cuh"

constexpr int PLACES = 2;
constexpr int PIECE = 192;

extern "C" __global__ void sum(const int* x, int* y, int n)
{
    alignas(128) __shared__ int ring[PLACES][PIECE];
    __shared__ unsigned long long full[PLACES], empty[PLACES];

    const int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < PLACES; i++) {
            init(&full[i], 1);
            init(&empty[i], 96);
        }
        fence_init();
    }
    __syncthreads();

    if (t >= 96) {
        if (t != 96) return;
        for (int i = 0; i < n; i++) {
            const int place = i % PLACES, round = i / PLACES;
            wait(&empty[place], (round & 1) ^ 1);
            arrive_and_expect(&full[place], PIECE * 4);
            copy(ring[place], &x[i * PIECE], PIECE * 4, &full[place]);
        }
        return;
    }
    int total = 0;
    for (int i = 0; i < n; i++) {
        const int place = i % PLACES, round = i / PLACES;
        wait(&full[place], round & 1);
        total += ring[place][t] + ring[place][t + 96];
        arrive(&empty[place]);
    }
    y[t] = total;
}
