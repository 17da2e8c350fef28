// local_array_too_small.cu: seven values are kept in an array of four.
//
// block: 32
// arg: n i32 7
// arg: in f32[64] filled
// arg: out f32[32] empty

extern "C" __global__ void window_max(int n, const float* in, float* out)
{
    float kept[4];
    for (int j = 0; j < n; ++j) kept[j] = in[threadIdx.x + j];
    float best = kept[0];
    for (int j = 1; j < n; ++j) best = fmaxf(best, kept[j % 4]);
    out[threadIdx.x] = best;
}
