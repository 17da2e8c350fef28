// v11_gemm.cu: the kernel of v11_stream_k with other tiles, for products of other shapes.
//
// The host chooses one of them by the shape (steps/v11/src/gemm). `boxes`: rows of A and B start on 16 bytes, and a
// tensor map describes them. `words`: rows start anywhere. `threads`: the plan of v11_slices, for small products.
// C = alpha * A * B + beta * C, any M, N, K. Launch: as the host's table of plans says.
// arch: compute_90a
// options: --ptxas-options=-O1
#include "v11_plan.cuh"

// ANCHOR: kernel
using Alone = Crew<128, 240, 24>;  // one block on a multiprocessor
using OneWarp = Crew<32, 0, 0>;
using Pair = Crew<128, 208, 40>;  // two blocks
using AloneWords = Crew<128, 232, 40>;

//    name        blocks, stages, crew, tile of C, k, tile of a thread, slices
BOXES(64x128x32, 1, 4, Alone, 64, 128, 32, 8, 16, 4)
BOXES(64x128x16, 2, 4, OneWarp, 64, 128, 16, 8, 8, 1)
BOXES(32x64x32, 2, 4, OneWarp, 32, 64, 32, 8, 8, 4)
BOXES(32x64x16, 3, 6, OneWarp, 32, 64, 16, 4, 8, 2)

WORDS(64x128x32, 1, 5, AloneWords, 64, 128, 32, 8, 16, 4)
WORDS(128x64x16, 2, 8, Pair, 128, 64, 16, 8, 8, 1)
WORDS(64x128x16, 2, 8, Pair, 64, 128, 16, 8, 8, 1)
WORDS(64x64x32, 2, 5, Pair, 64, 64, 32, 8, 8, 2)
WORDS(32x64x32, 2, 4, Pair, 32, 64, 32, 8, 8, 4)

THREADS(16x32x32, 4, 4, 16, 32, 32, 4, 4, 4)
// ANCHOR_END: kernel
