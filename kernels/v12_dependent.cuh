// v12_dependent.cuh: launches that overlap (programmatic dependent launch), where the host allows it.
#pragma once

// ANCHOR: dependent
// The next launch may begin once a thread of each block was here.
__device__ __forceinline__ void let_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Until the launch before has ended, and its writes can be seen. Without one it returns at once.
__device__ __forceinline__ void wait_for_previous()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
// ANCHOR_END: dependent
