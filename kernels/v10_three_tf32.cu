// v10_three_tf32.cu: FP32 from three products of TF32, nearly to its last bit.
//
// Changed since v10_shared: each element is the sum of two of TF32, of which the second holds what rounding to the
// first has lost. Of the four products of two such sums, three are computed: low * low is a few units in the last
// place of FP32, at most.
// Sums are promoted: those of one tile begin at zero and are added to the others in FP32, rounded and not cut.
// After Markidis et al. 2018 (the split), Ootomo and Yokota 2022 (sums outside of the unit).
// Any M, N, K, finite elements. Launch: THREADS threads, one block per BM x BN of C.
//
// arch: compute_80
#include "v10_plan.cuh"

constexpr int WM = 64, WN = 32;  // tile of C owned by one warp
constexpr int THREADS = (BM / WM) * (BN / WN) * WARP_SIZE;

// ANCHOR: split
// A fragment as high + low. Which element a lane has does not matter: each is split where it is.
struct Split {
    Factor high, low;

    __device__ __forceinline__ void of(const Factor& f)
    {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float x = __uint_as_float(f.x[i]), rounded = round_to_tf32(x);
            high.x[i] = __float_as_uint(rounded);
            low.x[i] = __float_as_uint(round_to_tf32(x - rounded));  // the difference is exact
        }
    }
};
// ANCHOR_END: split

// ANCHOR: add
struct ThreeProducts {
    template <typename P>
    static __device__ __forceinline__ void add(typename P::Acc& acc, const typename P::Tiles::A& a_tile,
                                               const typename P::Tiles::B& b_tile, int warp_row, int warp_col)
    {
        constexpr int STEPS = P::Tiles::BK / P::DEPTH;
        Split b[STEPS][P::COLS];
        #pragma unroll
        for (int step = 0; step < STEPS; ++step)
            #pragma unroll
            for (int j = 0; j < P::COLS; ++j) {
                Factor f;
                load_b<P::FROM>(f, as_tf32(&b_tile[step * P::DEPTH][warp_col + j * FRAGMENT]), P::Tiles::B_STRIDE);
                b[step][j].of(f);
            }
        #pragma unroll
        for (int i = 0; i < P::ROWS; ++i) {
            Split a[STEPS];
            #pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                Factor f;
                load_a<P::FROM>(f, as_tf32(&a_tile[warp_row + i * FRAGMENT][step * P::DEPTH]), P::Tiles::A_STRIDE);
                a[step].of(f);
            }
            #pragma unroll
            for (int j = 0; j < P::COLS; ++j) {
                Sums sums = {};  // of this tile; the small ones first
                #pragma unroll
                for (int step = 0; step < STEPS; ++step) {
                    multiply(sums, a[step].low, b[step][j].high, as_tf32(nullptr));
                    multiply(sums, a[step].high, b[step][j].low, as_tf32(nullptr));
                }
                #pragma unroll
                for (int step = 0; step < STEPS; ++step)
                    multiply(sums, a[step].high, b[step][j].high, as_tf32(nullptr));
                #pragma unroll
                for (int e = 0; e < 8; ++e) acc[i][j].x[e] += sums.x[e];
            }
        }
    }

    static __device__ __forceinline__ const tf32* as_tf32(const float* x) { return reinterpret_cast<const tf32*>(x); }
};
// ANCHOR_END: add

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v10_three_tf32(int M, int N, int K, const float* A, const float* B, float* C)
{
    product<Plan<float, WM, WN, From::SHARED>, ThreeProducts>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
