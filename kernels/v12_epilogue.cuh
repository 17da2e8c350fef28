// v12_epilogue.cuh: what becomes of sums before they are C.
#pragma once
#include "v12_bf16.cuh"

// ANCHOR: epilogue
enum Activation { NONE, RELU, GELU };

// C = activation(alpha * A * B + beta * old + bias). `bias`: one float for each column, or null.
struct Epilogue {
    float alpha, beta;
    const float* bias;
    int activation;
};

// x * Phi(x), with the usual approximation of Phi, by a logistic function: of 2 to the power of a polynomial, in
// instructions that take no care of numbers below 2^-126. An epilogue is straight code for every sum, which is fetched
// as it runs: __expf and __fdividef would take twice as many.
__device__ __forceinline__ float gelu(float x, float)
{
    float power, part;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * (-2.3022082f - 0.10294324f * x * x)));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(part) : "f"(1.0f + power));
    return x * part;
}

// The same for a C of bf16, by the hyperbolic tangent, whose error is 2^-11: that of the result is up to |x| * 2^-12,
// less than the rounding of C but for negative x, where the result is small. Of such functions a multiprocessor does
// 16 per clock, so the two of the above would take twice as long.
__device__ __forceinline__ float gelu(float x, Bf16)
{
    float tangent;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tangent) : "f"(x * (0.79788456f + 0.03567741f * x * x)));
    const float half = 0.5f * x;
    return half + half * tangent;
}

__device__ __forceinline__ float as_float(float x) { return x; }
__device__ __forceinline__ float as_float(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }

template <int COUNT, typename Change>
__device__ __forceinline__ void for_all(float (&acc)[COUNT], Change change)
{
    #pragma unroll
    for (int i = 0; i < COUNT; ++i) change(acc[i], i);
}

// Accumulators become what C will be; alpha * A * B where nothing is FUSED. `old` is read for beta only. `place` names
// row and column of accumulator `i`; bits of `i` that are not in COLUMN do not change the column. `load(bias)` returns
// a function from `i` to the bias of its column.
template <bool FUSED, int COLUMN, typename Out, int COUNT, typename Place, typename Load>
__device__ __forceinline__ void finish(float (&acc)[COUNT], const Epilogue& epilogue, const Out* old, int M, int N,
                                       Place place, Load load)
{
    for_all(acc, [&](float& x, int) { x *= epilogue.alpha; });
    if (!FUSED) return;
    if (epilogue.beta != 0.0f)
        for_all(acc, [&](float& x, int i) {
            const int2 at = place(i);
            if (at.x < M && at.y < N) x += epilogue.beta * as_float(old[at.x * N + at.y]);
        });
    if (epilogue.bias) {
        const auto bias = load(epilogue.bias);
        float of_columns[COUNT];
        for_all(acc, [&](float& x, int i) {
            if ((i & COLUMN) == i) of_columns[i] = bias(i);
            x += of_columns[i & COLUMN];
        });
    }
    if (epilogue.activation == RELU) for_all(acc, [](float& x, int) { x = fmaxf(x, 0.0f); });
    if (epilogue.activation == GELU) for_all(acc, [](float& x, int) { x = gelu(x, Out()); });
}
// ANCHOR_END: epilogue
