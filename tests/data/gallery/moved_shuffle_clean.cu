// moved_shuffle_clean.cu: lanes without data take part in a shuffle and in a vote, and what they bring is discarded.
//
// grid: 1
// block: 64
// arg: x f32[40] filled
// arg: y f32[64] empty
// arg: any i32[2] empty
// expect: clean

constexpr int N = 40;

extern "C" __global__ void neighbours(const float* x, float* y, int* any)
{
    __shared__ float row[64];
    __shared__ bool flags[64];

    const int i = threadIdx.x;
    if (i < N) row[i] = x[i];
    if (i < N) flags[i] = x[i] > 5.0f;
    __syncwarp();

    const float mine = row[i];
    const float right = __shfl_down_sync(0xFFFFFFFF, mine, 1);
    y[i] = i + 1 < N && i % 32 < 31 ? right - mine : 0.0f;

    const bool flag = flags[i];
    const bool found = __any_sync(0xFFFFFFFF, i < N && flag);
    if (i % 32 == 0) any[i / 32] = found;
}
