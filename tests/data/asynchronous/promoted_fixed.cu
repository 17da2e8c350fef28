// promoted_fixed.cu: FP8 with sums that leave the unit after each step: v12's own kernels, of which one is launched.
//
// arch: compute_90a
// kernel: gemm_v12_fp8_f32
// block: 384
// shared: 229440
// product: M N K alpha A:128x128/128/e4m3 Bt:128x96/128/e4m3 C:32x64/128
// launch: blocks 2 whole 0 shape 260 200 400
// launch: blocks 2 whole 0 shape 100 72 656
// expect: clean
#include "../../../kernels/v12_fp8.cu"  // as text
