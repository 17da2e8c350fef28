// v11_producer.cu: copies that need no threads.
//
// Changed since v11_async_copy: who copies. The host describes A and B once, by tensor maps; here one thread says which
// box of them is wanted, and a unit of the multiprocessor computes the addresses, stops at the edges and swizzles. That
// thread is in warps of its own, which give their registers to the others. Barriers in shared memory tell who waits for
// whom, for each pair of tiles alone, so that no warp waits for all others. Blocks stay: each multiplies one tile of C
// after another, and the tiles of the next are copied while the sums of this one are stored.
// Unchanged: the tile of C, what a thread does with tiles in shared memory, sums times alpha.
// Any M, N, K; rows of A and B that start on 16 bytes. Launch: THREADS threads, no more blocks than multiprocessors
// or tiles (a block without a tile would wait for ever), shared memory as the launch says.
// arch: compute_90a
// options: --ptxas-options=-O1
#include "v11_ring.cuh"

// ANCHOR: constants
using T = Tile<256, 128, 16, 8, 16, 1>;  // of C; k of a pair of tiles; of a thread; slices
constexpr int STAGES = 4;
constexpr int PRODUCERS = 128;  // threads: registers are given and taken by four warps together
constexpr int THREADS = T::THREADS + PRODUCERS;
// ANCHOR_END: constants

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 1)
sgemm_v11_producer(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                   const __grid_constant__ TensorMap b_map, float* C)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int thread = threadIdx.x;
    const int tiles_n = (N + T::BN - 1) / T::BN, tiles = (M + T::BM - 1) / T::BM * tiles_n;
    const int steps = (K + T::BK - 1) / T::BK;

    if (thread == 0) Ring<T, STAGES>::init(tiles_at, Boxes<T>::ARRIVALS);
    __syncthreads();

    if (thread >= T::THREADS) {
        give_registers<24>();
        if (thread > T::THREADS) return;
        Boxes<T> boxes{a_map, b_map};
        Ring<T, STAGES> ring(tiles_at, 1);
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            boxes.begin(tile / tiles_n * T::BM, tile % tiles_n * T::BN, 0);
            for (int step = 0; step < steps; ++step) {
                wait(ring.empty(), ring.parity);
                boxes.copy(ring.tiles(), ring.full());
                ring.advance();
            }
        }
        return;
    }

    take_registers<240>();
    Ring<T, STAGES> ring(tiles_at, 0);
    Multiplier<T> mine(thread, tiles_at);
    wait(ring.full(), ring.parity);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        multiply_ring(mine, ring, steps, tile + static_cast<int>(gridDim.x) < tiles);
        float4 sums[T::OWN_ROWS][T::TN / WIDTH];
        mine.exchange(sums, nullptr, thread, alpha, sync_multipliers<T::THREADS>);
        mine.store(C, M, N, tile / tiles_n * T::BM, tile % tiles_n * T::BN, sums);
    }
}
// ANCHOR_END: kernel
