//! Plain data that crosses the C edge, laid out as in `cuda.h` of CUDA 12.
//!
//! Enums are integers here: a caller may pass any value. A test compares sizes and offsets with cudarc's bindings.

use std::ffi::{c_int, c_uint, c_void};

pub(crate) type DevicePtr = u64;
/// An opaque handle: see [`crate::handle`].
pub(crate) type Handle = usize;

/// `CUuuid`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Uuid {
    pub(crate) bytes: [u8; 16],
}

/// `CUdevprop`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DeviceProperties {
    pub(crate) max_threads_per_block: c_int,
    pub(crate) max_threads_dim: [c_int; 3],
    pub(crate) max_grid_size: [c_int; 3],
    pub(crate) shared_mem_per_block: c_int,
    pub(crate) total_constant_memory: c_int,
    pub(crate) simd_width: c_int,
    pub(crate) mem_pitch: c_int,
    pub(crate) regs_per_block: c_int,
    pub(crate) clock_rate: c_int,
    pub(crate) texture_align: c_int,
}

/// Source or destination of a [`Memcpy2D`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CopySide2D {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) kind: c_uint,
    pub(crate) host: u64,
    pub(crate) device: DevicePtr,
    pub(crate) array: Handle,
    pub(crate) pitch: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Memcpy2D {
    pub(crate) src: CopySide2D,
    pub(crate) dst: CopySide2D,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Source or destination of a [`Memcpy3D`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CopySide {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) z: usize,
    pub(crate) lod: usize,
    pub(crate) kind: c_uint,
    pub(crate) host: u64,
    pub(crate) device: DevicePtr,
    pub(crate) array: Handle,
    pub(crate) context: Handle,
    pub(crate) pitch: usize,
    pub(crate) height: usize,
}

impl From<CopySide2D> for CopySide {
    fn from(side: CopySide2D) -> Self {
        let CopySide2D { x, y, kind, host, device, array, pitch } = side;
        Self { x, y, z: 0, lod: 0, kind, host, device, array, context: 0, pitch, height: 0 }
    }
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, whose contexts stand where the reserved fields are.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Memcpy3D {
    pub(crate) src: CopySide,
    pub(crate) dst: CopySide,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ArrayDescriptor {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) format: c_uint,
    pub(crate) channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Array3DDescriptor {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
    pub(crate) format: c_uint,
    pub(crate) channels: c_uint,
    pub(crate) flags: c_uint,
}

/// `CUDA_RESOURCE_DESC`. The union is kept as words and read by its members' offsets.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ResourceDesc {
    pub(crate) kind: c_uint,
    pub(crate) words: [u64; 16],
    pub(crate) flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct TextureDesc {
    pub(crate) address_mode: [c_uint; 3],
    pub(crate) filter_mode: c_uint,
    pub(crate) flags: c_uint,
    pub(crate) max_anisotropy: c_uint,
    pub(crate) mipmap_filter_mode: c_uint,
    pub(crate) mipmap_level_bias: f32,
    pub(crate) min_mipmap_level_clamp: f32,
    pub(crate) max_mipmap_level_clamp: f32,
    pub(crate) border_color: [f32; 4],
    pub(crate) reserved: [c_int; 12],
}

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LaunchConfigC {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: Handle,
    pub(crate) attributes: *mut LaunchAttribute,
    pub(crate) n_attributes: c_uint,
}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_uint,
    pub(crate) pad: [u8; 4],
    pub(crate) value: [u64; 8],
}

/// `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MemLocation {
    pub(crate) kind: c_uint,
    pub(crate) id: c_int,
}

/// `CUmemPoolProps`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PoolProps {
    pub(crate) alloc_type: c_uint,
    pub(crate) handle_types: c_uint,
    pub(crate) location: MemLocation,
    pub(crate) security_attributes: *mut c_void,
    pub(crate) max_size: usize,
    pub(crate) reserved: [u8; 56],
}

/// `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MemAccessDesc {
    pub(crate) location: MemLocation,
    pub(crate) flags: c_uint,
}

/// `CUctxCreateParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CtxCreateParams {
    pub(crate) affinity: *mut c_void,
    pub(crate) n_affinity: c_int,
    pub(crate) cig: *mut c_void,
}

/// `CUhostFn`
pub(crate) type HostFn = Option<unsafe extern "C" fn(data: *mut c_void)>;
/// `CUstreamCallback`
pub(crate) type StreamCallback = Option<unsafe extern "C" fn(stream: Handle, status: u32, data: *mut c_void)>;
/// `CUoccupancyB2DSize`
pub(crate) type BlockToShared = Option<unsafe extern "C" fn(block: c_int) -> usize>;
