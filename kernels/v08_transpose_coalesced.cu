// v08_transpose_coalesced.cu: one thread per element, and two ways to hand out the elements.
//
// coalesced_reads:  lanes along a row of in:  a load touches  4 sectors, a store 32.
// coalesced_writes: lanes along a row of out: a load touches 32 sectors, a store  4.
// Both at once cannot be had this way: neighbours in a row of in lie a whole row apart in out. Of the two,
// scattered loads hurt less: what a load left over stays in the L1 cache, a store goes on to L2 as it is.
// Changed since row_per_thread: as many threads as elements. Unchanged: one load and one store per element.
// Any rows, cols. Launch: BLOCK * BLOCK threads, one block per BLOCK x BLOCK elements of in.

constexpr int BLOCK = 32;  // edge of the square of in owned by one block; one warp spans one row of it

// ANCHOR: kernel
// ANCHOR: coalesced_reads
extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
transpose_coalesced_reads(int rows, int cols, const float* in, float* out)
{
    const int row = blockIdx.y * BLOCK + threadIdx.x / BLOCK;  // same for all 32 lanes
    const int col = blockIdx.x * BLOCK + threadIdx.x % BLOCK;  // lane i -> first column + i
    if (row >= rows || col >= cols) return;  // safe: no barrier follows

    out[col * rows + row]        // out[col][row]: 32 rows of out per warp
        = in[row * cols + col];  // in[row][col]: 32 neighbours per warp
}
// ANCHOR_END: coalesced_reads

// ANCHOR: coalesced_writes
extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
transpose_coalesced_writes(int rows, int cols, const float* in, float* out)
{
    // SOLUTION(v08): hand out the elements so that neighbouring lanes own neighbours in a row of out
    const int row = blockIdx.y * BLOCK + threadIdx.x % BLOCK;  // lane i -> first row + i
    const int col = blockIdx.x * BLOCK + threadIdx.x / BLOCK;  // same for all 32 lanes
    // STARTER| const int row = blockIdx.y * BLOCK + threadIdx.x / BLOCK;
    // STARTER| const int col = blockIdx.x * BLOCK + threadIdx.x % BLOCK;
    // SOLUTION_END
    if (row >= rows || col >= cols) return;  // safe: no barrier follows

    out[col * rows + row]        // out[col][row]: 32 neighbours per warp
        = in[row * cols + col];  // in[row][col]: 32 rows of in per warp
}
// ANCHOR_END: coalesced_writes
// ANCHOR_END: kernel
