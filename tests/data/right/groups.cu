// groups.cu: tiles and coalesced groups of cooperative groups, each in step with itself.
//
// grid: 2
// block: 64
// arg: y i32[8] zero
// arg: hits i32[3] zero
// gives: y 0 28
// gives: y 7 476
// gives: hits 1 43

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(int* y, int* hits)
{
    __shared__ int box[64];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    box[threadIdx.x] = threadIdx.x;
    tile.sync();
    int sum = box[(threadIdx.x & ~7) + (tile.thread_rank() + 3) % 8];
    for (int step = tile.size() / 2; step > 0; step /= 2) sum += tile.shfl_down(sum, step);
    if (tile.thread_rank() == 0 && blockIdx.x == 0) y[threadIdx.x / 8] = sum;
    block.sync();
    const int which = (blockIdx.x * 64 + threadIdx.x) % 3;
    if (which == 1) {
        const cg::coalesced_group here = cg::coalesced_threads();
        if (here.thread_rank() == 0) atomicAdd(&hits[which], here.size());
    }
}
