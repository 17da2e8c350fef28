// shared_out_fixed.cu: the persistent kernel of v11 with small tiles.
//
// arch: compute_90a
// block: 256
// shared: 32832
// product: M N K alpha A:16x32/64 B:64x16 beta C whole
// launch: blocks 1 whole 4 shape 37 68 20
// launch: blocks 3 whole 0 shape 37 68 40
// launch: blocks 2 whole 4 shape 100 100 100
// launch: blocks 7 whole 0 shape 33 132 100
// expect: clean
#include "../../../kernels/v11_shared_out.cuh"  // as text

using Small = Tile<32, 64, 16, 4, 8, 2>;
using SmallCrew = Crew<128, 240, 24>;

extern "C" __global__ void __launch_bounds__(Small::THREADS + SmallCrew::PRODUCERS, 1)
product(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
        const __grid_constant__ TensorMap b_map, float beta, float* C, int whole)
{
    multiply_shared_out<Small, 4, SmallCrew>(M, N, K, alpha, Boxes<Small>{a_map, b_map}, beta, C, whole);
}
