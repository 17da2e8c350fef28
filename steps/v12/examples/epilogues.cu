// epilogues.cu: what a fused epilogue saves: the same, as a second kernel.
// arch: compute_90a
#include "../../../kernels/v12_epilogue.cuh"

// C = gelu(C + bias) for `n` numbers, and rows of `cols`; both are multiples of 8. A thread has 8 neighbours.
extern "C" __global__ void __launch_bounds__(256) bias_and_gelu(int n, int cols, const float* bias, Bf16* C)
{
    const int at = (blockIdx.x * 256 + threadIdx.x) * BF16_WIDTH;
    if (at >= n) return;
    uint4* place = reinterpret_cast<uint4*>(C + at);
    uint4 eight = *place;
    const float4* four = reinterpret_cast<const float4*>(bias + at % cols);
    const float4 low = four[0], high = four[1];
    const auto both = [](unsigned pair, float first, float second) {
        return pack(gelu(as_float(static_cast<Bf16>(pair)) + first, Bf16()),
                    gelu(as_float(static_cast<Bf16>(pair >> 16)) + second, Bf16()));
    };
    eight.x = both(eight.x, low.x, low.y);
    eight.y = both(eight.y, low.z, low.w);
    eight.z = both(eight.z, high.x, high.y);
    eight.w = both(eight.w, high.z, high.w);
    *place = eight;
}
