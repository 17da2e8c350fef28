// words_fixed.cu: the same kernel, whose second warpgroup copies words with cp.async.
//
// arch: compute_90a
// block: 256
// shared: 32832
// product: M N K alpha A B beta C whole
// launch: blocks 1 whole 4 shape 37 67 19
// launch: blocks 3 whole 0 shape 37 67 39
// expect: clean
#include "../../../kernels/v11_words.cuh"  // as text
#include "../../../kernels/v11_shared_out.cuh"  // as text

using Small = Tile<32, 64, 16, 4, 8, 2>;
using SmallCrew = Crew<128, 208, 40>;

extern "C" __global__ void __launch_bounds__(Small::THREADS + SmallCrew::PRODUCERS, 2)
product(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C, int whole)
{
    const Words<Small, SmallCrew::PRODUCERS> words(M, N, K, A, B, threadIdx.x - Small::THREADS);
    multiply_shared_out<Small, 4, SmallCrew>(M, N, K, alpha, words, beta, C, whole);
}
