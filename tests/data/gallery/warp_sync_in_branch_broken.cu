// warp_sync_in_branch_broken.cu: half of the warp waits for the other half, which waits at the barrier of the block.
//
// block: 32
// arg: y i32[32] empty
// expect: E-SYNC-MASK

extern "C" __global__ void trade(int* y)
{
    __shared__ int box[32];

    const int lane = threadIdx.x;
    box[lane] = lane;
    if (lane < 16) {
        box[lane] += 1;
        __syncwarp();
        const int other = box[lane ^ 1];
        __syncwarp();
        box[lane] += other;
    }
    __syncthreads();
    y[lane] = box[31 - lane];
}
