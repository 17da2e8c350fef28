// halves_of_a_warp.cu: each half of a warp reduces its own part of shared memory, and syncs only with itself.
//
// block: 64
// arg: y i32[4] empty
// gives: y 0 120
// gives: y 3 888

extern "C" __global__ void reduce(int* y)
{
    __shared__ int s[64];

    const int t = threadIdx.x, lane = t % 16;
    const unsigned mask = 0xffffu << (t & 16);
    s[t] = t;
    __syncwarp(mask);
    for (int half = 8; half > 0; half /= 2) {
        const int sum = lane < half ? s[t] + s[t + half] : 0;
        __syncwarp(mask);
        if (lane < half) s[t] = sum;
        __syncwarp(mask);
    }
    if (lane == 0) y[t / 16] = s[t];
}
