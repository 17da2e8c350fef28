//! The CUDA driver API over the emulated GPU.
//!
//! The crate `nvcuda` builds it as `libnvcuda`, which `cudarc` and other CUDA programs load where there is no NVIDIA
//! driver; its functions are called from C only. Programs that use the emulated device's functions beyond CUDA find
//! them ([`extensions`]) through the crate `emulator_client`.
//!
//! # Supported calls
//!
//! Devices, contexts, streams, events, memory of all kinds, arrays and texture objects, tensor maps, modules from PTX,
//! from cubins of the device's own architecture and from fatbinaries with either, libraries, occupancy, launches, error
//! names and `cuGetProcAddress`, stream capture and graphs. Every call that `cudarc` names is exported; those that are
//! not implemented (virtual memory management, interprocess and graphics calls, surfaces, texture references,
//! multicast; of graphs, conditional nodes and semaphores of other APIs) return `CUDA_ERROR_NOT_SUPPORTED` and print
//! their name on stderr, once. Error codes of bad arguments are NVIDIA's.
//!
//! Work is asynchronous: a launch returns before the kernel ends, and its errors come back at the next
//! synchronisation. All streams of a context share one order (see `queue`). Event times are the host's clock: they
//! measure what the work took *here*, and nothing about a GPU.
//!
//! # Faulting kernels
//!
//! The diagnosis is printed on stderr once, the call that synchronises returns the code that hardware would give,
//! and the context is lost: every later call returns that code until the context is destroyed or reset. A mistake that
//! hardware does not detect (a race, a read of uninitialised memory) gives `CUDA_ERROR_LAUNCH_FAILED`.
//!
//! Mistakes of the host whose error code explains little (freeing twice, a copy past the end, a name that no kernel
//! has, uninitialised memory) get one sentence on stderr, see `host_mistakes`. Suspicions are warnings: memory that
//! the grid did not reach (`unwritten`), a source that changes during its copy (`staging`).
//!
//! # Environment variables
//!
//! | variable | values | default |
//! | --- | --- | --- |
//! | `TILE_CHECK` | `off`, `count`, `on`, `global` (also races on global memory, which `on` looks for where a kernel loads what it stores) | `on` |
//! | `TILE_BUDGET` | thread-instructions after which a launch is stopped (what takes long counts as many), 0: never | 10¹² |
//! | `TILE_THREADS` | CPU threads for a launch, 0: one per core | 0 |
//! | `TILE_UNORDERED` | 1: blocks in parallel even where their order could change results | 0 |
//! | `TILE_DIAGNOSIS` | 0: findings are not printed on stderr | 1 |
//! | `TILE_MEMORY` | device memory in MiB, pinned and managed host memory and loaded modules included | half of the machine's memory that the process may use, 1 GiB to 80 GiB |
//! | `TILE_SOURCES` | folders (separated as in `PATH`) in which sources for messages are looked for | none |
//! | `TILE_TRACE` | 1: every call and its result, on stderr | 0 |
//! | `NO_COLOR` | anything: no colours | on a terminal |
//!
//! Sources are also looked for under the paths in the PTX, from the current folder and the five above it. Only files
//! that are named like C++ or CUDA sources and are smaller than 1 MiB are read.
//!
//! # Safety
//!
//! Handles and device pointers are checked at every use, whatever their value; host pointers are trusted but for null;
//! on Linux, kernel arguments and copies from unmapped addresses are refused, too.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "host memory that kernels reach")]
mod allocations;
#[expect(unsafe_code, reason = "the C interface")]
mod api;
mod attributes;
#[expect(unsafe_code, reason = "the C interface")]
mod calls;
mod capture;
mod contexts;
mod cuda_constants;
mod current;
mod diagnose;
#[expect(unsafe_code, reason = "the C interface")]
pub mod extensions;
mod fatbin;
#[expect(unsafe_code, reason = "the C interface")]
mod ffi;
mod graphs;
mod handle;
mod host_mistakes;
#[expect(unsafe_code, reason = "buffers of a C caller")]
mod image;
#[cfg_attr(target_os = "linux", expect(unsafe_code, reason = "handlers of the process"))]
mod lifecycle;
mod queue;
mod reports;
mod result;
mod settings;
#[expect(unsafe_code, reason = "host memory that copies read")]
mod staging;
mod streams;
mod sync;
mod types;
mod unsupported;
mod unwritten;
