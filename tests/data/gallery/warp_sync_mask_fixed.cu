// warp_sync_mask_fixed.cu: all lanes sync, those that wrote and those that read.
//
// block: 32
// arg: x i32[32] filled
// arg: y i32[16] empty
// expect: clean

extern "C" __global__ void fold(const int* x, int* y)
{
    __shared__ int box[32];

    const int lane = threadIdx.x;
    box[lane] = x[lane];
    __syncwarp();
    if (lane < 16) {
        y[lane] = box[lane] + box[lane + 16];
    }
}
