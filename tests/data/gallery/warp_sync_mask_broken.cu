// warp_sync_mask_broken.cu: the lower half of a warp reads what the upper half wrote; the mask names the readers only.
//
// block: 32
// arg: x i32[32] filled
// arg: y i32[16] empty
// expect: E-RACE

extern "C" __global__ void fold(const int* x, int* y)
{
    __shared__ int box[32];

    const int lane = threadIdx.x;
    box[lane] = x[lane];
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        y[lane] = box[lane] + box[lane + 16];
    }
}
