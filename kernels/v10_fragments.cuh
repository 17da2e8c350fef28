// v10_fragments.cuh: matrices that a warp holds together, and their product on tensor cores.
//
// What mma.h calls wmma::fragment. Which lane has which element is not specified: a fragment is loaded, multiplied and
// stored by all lanes of a warp at once, and every element may be changed where it is.
#pragma once
#include "common.cuh"

constexpr int FRAGMENT = 16;  // rows and columns of a product; rows of A and columns of B

// ANCHOR: elements
// Eight bits of FP32's 24, in two bytes: sign, eight bits of exponent, seven of the fraction.
struct bf16 {
    unsigned short bits;
};

// Eleven of these 24, in four bytes. The unit ignores the low 13 bits: a program that wants them rounded does it.
struct tf32 {
    float value;
};

__device__ __forceinline__ float round_to_tf32(float x)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return __uint_as_float(rounded);
}
// ANCHOR_END: elements

// A FRAGMENT x DEPTH matrix of A, or DEPTH x FRAGMENT of B.
struct Factor {
    unsigned x[4];
};

// A FRAGMENT x FRAGMENT matrix of sums.
struct Sums {
    float x[8];
};

// Where a fragment is loaded from.
enum class From {
    ANYWHERE,  // a generic address: the hardware finds out what memory it is in, for each of the loads
    SHARED,    // an address in shared memory
};

#define FOUR(f) "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3])

// ANCHOR: load
// The two instructions in each of their two forms; `stride` is the number of elements from one row to the next.
#define LOAD(NAME, OPERAND, SHAPE, TYPE, ELEMENT)                                                              \
    template <From FROM>                                                                                       \
    __device__ __forceinline__ void NAME(Factor& f, const ELEMENT* from, int stride)                           \
    {                                                                                                          \
        if (FROM == From::ANYWHERE)                                                                            \
            asm volatile("wmma.load." OPERAND ".sync.aligned.row." SHAPE "." TYPE " {%0, %1, %2, %3}, [%4], %5;" \
                         : FOUR(f) : "l"(from), "r"(stride) : "memory");                                       \
        else                                                                                                   \
            asm volatile("wmma.load." OPERAND ".sync.aligned.row." SHAPE ".shared." TYPE                       \
                         " {%0, %1, %2, %3}, [%4], %5;"                                                        \
                         : FOUR(f) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))), "r"(stride)   \
                         : "memory");                                                                          \
    }
LOAD(load_a, "a", "m16n16k16", "bf16", bf16)
LOAD(load_b, "b", "m16n16k16", "bf16", bf16)
LOAD(load_a, "a", "m16n16k8", "tf32", tf32)
LOAD(load_b, "b", "m16n16k8", "tf32", tf32)
// ANCHOR_END: load
#undef LOAD
#undef FOUR

// ANCHOR: multiply
// c += a * b, by the elements of a pointer that only names their type.
#define MULTIPLY(SHAPE, TYPES, ELEMENT)                                                                         \
    __device__ __forceinline__ void multiply(Sums& c, const Factor& a, const Factor& b, const ELEMENT*)         \
    {                                                                                                           \
        asm("wmma.mma.sync.aligned.row.row." SHAPE "." TYPES                                                    \
            " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15},"                      \
            " {%0, %1, %2, %3, %4, %5, %6, %7};"                                                                \
            : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3]), "+f"(c.x[4]), "+f"(c.x[5]), "+f"(c.x[6]), \
              "+f"(c.x[7])                                                                                      \
            : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]), "r"(b.x[2]),        \
              "r"(b.x[3]));                                                                                     \
    }
MULTIPLY("m16n16k16", "f32.bf16.bf16.f32", bf16)
MULTIPLY("m16n16k8", "f32.tf32.tf32.f32", tf32)
// ANCHOR_END: multiply
#undef MULTIPLY

// To rows of `stride` floats.
__device__ __forceinline__ void store(float* to, const Sums& c, int stride)
{
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
                 :: "l"(to), "f"(c.x[0]), "f"(c.x[1]), "f"(c.x[2]), "f"(c.x[3]), "f"(c.x[4]), "f"(c.x[5]),
                    "f"(c.x[6]), "f"(c.x[7]), "r"(stride) : "memory");
}
