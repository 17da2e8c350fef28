// What NVIDIA's compilers have built in, for clang without the headers of CUDA: as much as kernels of this course use.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict

typedef unsigned long size_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long uintptr_t;
typedef unsigned int uint;

// Vectors of clang, because it takes a struct of four floats apart and makes four accesses of one. They have arithmetic
// that CUDA's have not, and no element of theirs has an address.
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef double double2 __attribute__((ext_vector_type(2)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef unsigned int uint2 __attribute__((ext_vector_type(2)));
typedef unsigned int uint4 __attribute__((ext_vector_type(4)));
// One of clang would have the size of four.
struct float3 { float x, y, z; };
struct int3 { int x, y, z; };
struct uint3 { unsigned int x, y, z; };

struct dim3 {
    unsigned int x, y, z;
    __device__ dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

#define TILE_INLINE static __device__ __forceinline__

TILE_INLINE float2 make_float2(float x, float y) { float2 v = {x, y}; return v; }
TILE_INLINE float3 make_float3(float x, float y, float z) { float3 v = {x, y, z}; return v; }
TILE_INLINE float4 make_float4(float x, float y, float z, float w) { float4 v = {x, y, z, w}; return v; }
TILE_INLINE double2 make_double2(double x, double y) { double2 v = {x, y}; return v; }
TILE_INLINE int2 make_int2(int x, int y) { int2 v = {x, y}; return v; }
TILE_INLINE int3 make_int3(int x, int y, int z) { int3 v = {x, y, z}; return v; }
TILE_INLINE int4 make_int4(int x, int y, int z, int w) { int4 v = {x, y, z, w}; return v; }
TILE_INLINE uint2 make_uint2(unsigned int x, unsigned int y) { uint2 v = {x, y}; return v; }
TILE_INLINE uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w)
{
    uint4 v = {x, y, z, w};
    return v;
}

// Indices: a field of a built-in variable is a register.
#define TILE_REGISTER(NAME, FIELD, READ)                                    \
    __declspec(property(get = tile_get_##FIELD)) unsigned int FIELD;        \
    static inline __attribute__((always_inline, device)) unsigned int tile_get_##FIELD() { return READ(); }
struct tile_threadIdx {
    TILE_REGISTER(threadIdx, x, __nvvm_read_ptx_sreg_tid_x)
    TILE_REGISTER(threadIdx, y, __nvvm_read_ptx_sreg_tid_y)
    TILE_REGISTER(threadIdx, z, __nvvm_read_ptx_sreg_tid_z)
};
struct tile_blockIdx {
    TILE_REGISTER(blockIdx, x, __nvvm_read_ptx_sreg_ctaid_x)
    TILE_REGISTER(blockIdx, y, __nvvm_read_ptx_sreg_ctaid_y)
    TILE_REGISTER(blockIdx, z, __nvvm_read_ptx_sreg_ctaid_z)
};
struct tile_blockDim {
    TILE_REGISTER(blockDim, x, __nvvm_read_ptx_sreg_ntid_x)
    TILE_REGISTER(blockDim, y, __nvvm_read_ptx_sreg_ntid_y)
    TILE_REGISTER(blockDim, z, __nvvm_read_ptx_sreg_ntid_z)
};
struct tile_gridDim {
    TILE_REGISTER(gridDim, x, __nvvm_read_ptx_sreg_nctaid_x)
    TILE_REGISTER(gridDim, y, __nvvm_read_ptx_sreg_nctaid_y)
    TILE_REGISTER(gridDim, z, __nvvm_read_ptx_sreg_nctaid_z)
};
extern const __device__ __attribute__((weak)) tile_threadIdx threadIdx;
extern const __device__ __attribute__((weak)) tile_blockIdx blockIdx;
extern const __device__ __attribute__((weak)) tile_blockDim blockDim;
extern const __device__ __attribute__((weak)) tile_gridDim gridDim;
#define warpSize 32

// Barriers and fences; __syncthreads() is built in.
#define TILE_BARRIER(NAME, OPERATION)                                                                   \
    TILE_INLINE int NAME(int x)                                                                         \
    {                                                                                                   \
        int out;                                                                                        \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red." OPERATION ".pred q, 0, p; " \
                     "selp.s32 %0, 1, 0, q; }"                                                          \
                     : "=r"(out)                                                                        \
                     : "r"(x)                                                                           \
                     : "memory");                                                                       \
        return out;                                                                                     \
    }
TILE_BARRIER(__syncthreads_or, "or")
TILE_BARRIER(__syncthreads_and, "and")
TILE_INLINE int __syncthreads_count(int x)
{
    int out;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }" : "=r"(out) : "r"(x) : "memory");
    return out;
}
TILE_INLINE void __syncwarp(unsigned int mask = 0xffffffff) { asm volatile("bar.warp.sync %0;" : : "r"(mask) : "memory"); }
TILE_INLINE void __threadfence() { asm volatile("membar.gl;" : : : "memory"); }
TILE_INLINE void __threadfence_block() { asm volatile("membar.cta;" : : : "memory"); }

// Exchanges between lanes.
#define TILE_SHUFFLE(NAME, MODE, TYPE, CLAMP, LANE)                                                    \
    TILE_INLINE TYPE NAME(unsigned int mask, TYPE v, LANE lane, int width = 32)                        \
    {                                                                                                  \
        int in, out;                                                                                   \
        __builtin_memcpy(&in, &v, 4);                                                                  \
        asm volatile("shfl.sync." MODE ".b32 %0, %1, %2, %3, %4;"                                      \
                     : "=r"(out)                                                                       \
                     : "r"(in), "r"(lane), "r"(((32 - width) << 8) | CLAMP), "r"(mask));               \
        __builtin_memcpy(&v, &out, 4);                                                                 \
        return v;                                                                                      \
    }
#define TILE_SHUFFLES(TYPE)                                                  \
    TILE_SHUFFLE(__shfl_sync, "idx", TYPE, 31, int)                          \
    TILE_SHUFFLE(__shfl_up_sync, "up", TYPE, 0, unsigned int)                \
    TILE_SHUFFLE(__shfl_down_sync, "down", TYPE, 31, unsigned int)           \
    TILE_SHUFFLE(__shfl_xor_sync, "bfly", TYPE, 31, int)
TILE_SHUFFLES(int)
TILE_SHUFFLES(unsigned int)
TILE_SHUFFLES(float)
TILE_INLINE unsigned int __activemask()
{
    unsigned int mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
TILE_INLINE unsigned int __ballot_sync(unsigned int mask, int x)
{
    unsigned int out;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(out) : "r"(x), "r"(mask));
    return out;
}

// Loads by the read-only path, atomics, arithmetic.
template <typename T>
TILE_INLINE T __ldg(const T* from) { return *from; }
#define TILE_ATOMIC_ADD(TYPE, PTX, REGISTER)                                                                          \
    TILE_INLINE TYPE atomicAdd(TYPE* to, TYPE v)                                                                      \
    {                                                                                                                 \
        TYPE old;                                                                                                     \
        asm volatile("atom.add." PTX " %0, [%1], %2;" : "=" REGISTER(old) : "l"(to), REGISTER(v) : "memory");        \
        return old;                                                                                                   \
    }
TILE_ATOMIC_ADD(int, "s32", "r")
TILE_ATOMIC_ADD(unsigned int, "u32", "r")
TILE_ATOMIC_ADD(float, "f32", "f")
TILE_ATOMIC_ADD(double, "f64", "d")
TILE_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TILE_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TILE_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TILE_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
TILE_INLINE int min(int a, int b) { return a < b ? a : b; }
TILE_INLINE int max(int a, int b) { return a > b ? a : b; }
TILE_INLINE unsigned int min(unsigned int a, unsigned int b) { return a < b ? a : b; }
TILE_INLINE unsigned int max(unsigned int a, unsigned int b) { return a > b ? a : b; }
TILE_INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
TILE_INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
TILE_INLINE int __popc(unsigned int x) { return __builtin_popcount(x); }
TILE_INLINE int __float_as_int(float x) { int v; __builtin_memcpy(&v, &x, 4); return v; }
TILE_INLINE float __int_as_float(int x) { float v; __builtin_memcpy(&v, &x, 4); return v; }

// Shared memory as cp.async and its like address it.
TILE_INLINE size_t __cvta_generic_to_shared(const void* p)
{
    return (size_t)(__attribute__((address_space(3))) const char*)p;
}
