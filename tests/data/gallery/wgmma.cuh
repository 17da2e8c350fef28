// Products of a warpgroup, as PTX.
#pragma once

// Where a factor lies in shared memory: its start, and the bytes from one core matrix (eight rows of 16 bytes) to the next
// along k (`leading`) and along the rows (`stride`). No swizzle.
__device__ inline unsigned long long describe(const void* start, unsigned leading, unsigned stride)
{
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(start));
    return address / 16 | static_cast<unsigned long long>(leading / 16) << 16
         | static_cast<unsigned long long>(stride / 16) << 32;
}

// Starts d += a * b with 64 rows, 8 columns and 16 k of bf16.
__device__ inline void multiply_async(float (&d)[4], unsigned long long a, unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}

__device__ inline void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ inline void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

// The upper half of a float: exact for small whole numbers.
__device__ inline unsigned short bf16(float x) { return __float_as_uint(x) >> 16; }
