// groups.cu: cooperative groups of several warps: they meet through shared memory that the system keeps for them.
// arch: compute_80

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(int *out) {
    __shared__ cg::block_tile_memory<256> memory;
    __shared__ int values[256];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    auto half = cg::tiled_partition<64>(block);
    int i = threadIdx.x;
    values[i] = i * i;
    tile.sync();
    int other = values[i ^ 127];
    int sum = cg::reduce(tile, i + 1, cg::plus<int>());
    int most = cg::reduce(half, (i * 37) % 101, cg::greater<int>());
    out[i] = sum + 1000000 * most + other + half.shfl(i, 5);
}
