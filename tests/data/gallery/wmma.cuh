// wmma.cuh: products of 16x16 tiles by one warp, as PTX has them.
#pragma once

#include <cuda_fp16.h>

struct Factor {
    unsigned x[8];
};
struct Sums {
    unsigned x[4];  // two halves in each
};

#define LOAD_FACTOR(name, qualifiers)                                                             \
    __device__ inline Factor name(const half* tile)                                               \
    {                                                                                             \
        Factor f;                                                                                 \
        asm volatile("wmma.load." qualifiers ".f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"   \
                     : "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3]),                    \
                       "=r"(f.x[4]), "=r"(f.x[5]), "=r"(f.x[6]), "=r"(f.x[7])                     \
                     : "l"(tile) : "memory");                                                     \
        return f;                                                                                 \
    }

LOAD_FACTOR(load_a_row, "a.sync.aligned.row.m16n16k16")
LOAD_FACTOR(load_b_row, "b.sync.aligned.row.m16n16k16")
LOAD_FACTOR(load_b_col, "b.sync.aligned.col.m16n16k16")
LOAD_FACTOR(load_a_row_of_32, "a.sync.aligned.row.m32n8k16")

// sums += a · b, both in rows.
__device__ inline void multiply_rows(Sums& sums, const Factor& a, const Factor& b)
{
    asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, {%0, %1, %2, %3};"
                 : "+r"(sums.x[0]), "+r"(sums.x[1]), "+r"(sums.x[2]), "+r"(sums.x[3])
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]),
                   "r"(a.x[4]), "r"(a.x[5]), "r"(a.x[6]), "r"(a.x[7]),
                   "r"(b.x[0]), "r"(b.x[1]), "r"(b.x[2]), "r"(b.x[3]),
                   "r"(b.x[4]), "r"(b.x[5]), "r"(b.x[6]), "r"(b.x[7]));
}

__device__ inline void store_rows(half* tile, const Sums& sums)
{
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f16 [%0], {%1, %2, %3, %4}, 16;"
                 :: "l"(tile), "r"(sums.x[0]), "r"(sums.x[1]), "r"(sums.x[2]), "r"(sums.x[3]) : "memory");
}
