// v11_shared_out.cuh: the persistent kernel with a ring, whose blocks share out tiles and steps (v11_schedule.cuh).
#pragma once
#include "v11_ring.cuh"
#include "v11_schedule.cuh"

// How the threads of a block are shared out. MINE: registers of a thread that multiplies, THEIRS: of one that copies;
// 0 for both where all keep what the launch gave them.
template <int PRODUCERS_, int MINE_, int THEIRS_>
struct Crew {
    static constexpr int PRODUCERS = PRODUCERS_, MINE = MINE_, THEIRS = THEIRS_;
};

// ANCHOR: kernel
// C = alpha * A * B + beta * C. `Tiles` copies the tiles of A and B, with the first ARRIVALS threads of the producers.
template <typename T, int STAGES, typename Crew, typename Tiles>
__device__ __forceinline__ void multiply_shared_out(int M, int N, int K, float alpha, Tiles source, float beta,
                                                    float* C, int whole)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int thread = threadIdx.x;
    const int tiles_n = (N + T::BN - 1) / T::BN, tiles = (M + T::BM - 1) / T::BM * tiles_n;
    const int steps = (K + T::BK - 1) / T::BK;

    if (thread == 0) Ring<T, STAGES>::init(tiles_at, Tiles::ARRIVALS);
    __syncthreads();

    Schedule schedule(steps, tiles, whole);
    if (thread >= T::THREADS) {
        if (Crew::THEIRS) give_registers<Crew::THEIRS ? Crew::THEIRS : 24>();
        if (thread - T::THREADS >= Tiles::ARRIVALS) return;
        Ring<T, STAGES> ring(tiles_at, 1);
        while (schedule.more()) {
            const Piece piece = schedule.next();
            source.begin(piece.tile / tiles_n * T::BM, piece.tile % tiles_n * T::BN, piece.first * T::BK);
            for (int step = 0; step < piece.count; ++step) {
                wait(ring.empty(), ring.parity);
                source.copy(ring.tiles(), ring.full());
                ring.advance();
            }
        }
        return;
    }

    if (Crew::MINE) take_registers<Crew::MINE ? Crew::MINE : 24>();
    const auto sync = sync_multipliers<T::THREADS>;
    Ring<T, STAGES> ring(tiles_at, 0);
    Multiplier<T> mine(thread, tiles_at);
    if (schedule.more()) wait(ring.full(), ring.parity);
    while (schedule.more()) {
        const Piece piece = schedule.next();
        multiply_ring(mine, ring, piece.count, schedule.more());
        float4 sums[T::OWN_ROWS][T::TN / WIDTH];
        mine.exchange(sums, reinterpret_cast<float4*>(shared + Ring<T, STAGES>::EXCHANGE_AT), thread, alpha, sync);
        if (!schedule.has_end(piece)) {
            give_sums<T>(sums, sync);
            continue;
        }
        if (piece.first > 0) add_given<T>(sums, schedule, piece.tile, tiles, sync);
        const int block_row = piece.tile / tiles_n * T::BM, block_col = piece.tile % tiles_n * T::BN;
        if (beta != 0.0f) mine.add_old(sums, C, M, N, block_row, block_col, beta);
        mine.store(C, M, N, block_row, block_col, sums);
    }
}
// ANCHOR_END: kernel
