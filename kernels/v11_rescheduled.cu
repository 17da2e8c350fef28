// v11_rescheduled.cu: the kernel of v11_stream_k with a main loop that no compiler wrote.
//
// Changed since v11_stream_k: the main loop, by a rewrite of the machine code. `reschedule` reads the compiler's code
// of this file, moves each sum to the bank of registers that its column's factor does not lie in, and lets each
// multiply-add keep a factor of the one before: two reads, one of either bank. The line `rescheduled` has the places of
// the six loads of a k, in multiply-adds before each: four of B for the next k, two of A. C is proved to have the same
// bits. In the source: rows of C that start anywhere are stored with lanes side by side (v11_rows.cuh), and the launch
// may overlap with the one before (v12_dependent.cuh).
// Any M, N, K; rows of A and B that start on 16 bytes. Launch: as v11_stream_k.
// arch: compute_90a
// options: --ptxas-options=-O1
// rescheduled: sgemm_v11_rescheduled, 240 registers, loads at 4 21 38 55 72 89
#include "v11_rows.cuh"
#include "v11_shared_out.cuh"
#include "v12_dependent.cuh"

// ANCHOR: kernel
using Large = Rows<Tile<256, 128, 16, 8, 16, 1>>;  // of C; k of a pair of tiles; of a thread; slices
using LargeCrew = Crew<128, 240, 24>;              // producers; registers of a thread that multiplies, that copies

extern "C" __global__ void __launch_bounds__(Large::THREADS + LargeCrew::PRODUCERS, 1)
sgemm_v11_rescheduled(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                      const __grid_constant__ TensorMap b_map, float beta, float* C, int whole)
{
    wait_for_previous();
    multiply_shared_out<Large, 4, LargeCrew>(M, N, K, alpha, Boxes<Large>{a_map, b_map}, beta, C, whole);
}
// ANCHOR_END: kernel
