// warp_sync_in_branch_fixed.cu: the mask names the lanes that are in the branch.
//
// block: 32
// arg: y i32[32] empty
// expect: clean

extern "C" __global__ void trade(int* y)
{
    __shared__ int box[32];

    const int lane = threadIdx.x;
    box[lane] = lane;
    if (lane < 16) {
        box[lane] += 1;
        __syncwarp(0x0000ffff);
        const int other = box[lane ^ 1];
        __syncwarp(0x0000ffff);
        box[lane] += other;
    }
    __syncthreads();
    y[lane] = box[31 - lane];
}
