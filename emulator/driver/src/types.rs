//! Plain data that crosses the C interface, laid out as in `cuda.h` of CUDA 12.
//!
//! Enums are integers here: a caller may pass any value. A test compares sizes and offsets with cudarc's bindings.

use std::ffi::{c_int, c_uint, c_void};

pub(crate) type DevicePtr = u64;
/// An opaque handle: see [`crate::handle`].
pub(crate) type Handle = usize;

/// Declares structures of C that are copied as they are, with visible fields.
macro_rules! structures {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $field: $ty,)*
        }
    )*};
}

structures! {
    /// `CUuuid`
    Uuid { bytes: [u8; 16] }

    /// `CUdevprop`
    DeviceProperties {
        max_threads_per_block: c_int, max_threads_dim: [c_int; 3], max_grid_size: [c_int; 3],
        shared_mem_per_block: c_int, total_constant_memory: c_int, simd_width: c_int, mem_pitch: c_int,
        regs_per_block: c_int, clock_rate: c_int, texture_align: c_int,
    }

    /// Source or destination of a [`Memcpy2D`].
    CopySide2D { x: usize, y: usize, kind: c_uint, host: u64, device: DevicePtr, array: Handle, pitch: usize }

    /// `CUDA_MEMCPY2D`
    Memcpy2D { src: CopySide2D, dst: CopySide2D, width: usize, height: usize }

    /// Source or destination of a [`Memcpy3D`].
    #[derive(Default)]
    CopySide {
        x: usize, y: usize, z: usize, lod: usize, kind: c_uint, host: u64, device: DevicePtr, array: Handle,
        context: Handle, pitch: usize, height: usize,
    }

    /// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, whose contexts stand where the reserved fields are.
    Memcpy3D { src: CopySide, dst: CopySide, width: usize, height: usize, depth: usize }

    /// `CUDA_ARRAY_DESCRIPTOR`
    ArrayDescriptor { width: usize, height: usize, format: c_uint, channels: c_uint }

    /// `CUDA_ARRAY3D_DESCRIPTOR`
    #[derive(Debug, PartialEq, Eq)]
    Array3DDescriptor {
        width: usize, height: usize, depth: usize, format: c_uint, channels: c_uint, flags: c_uint,
    }

    /// `CUDA_RESOURCE_DESC`. The union is kept as words and read by its members' offsets.
    ResourceDesc { kind: c_uint, words: [u64; 16], flags: c_uint }

    /// `CUDA_TEXTURE_DESC`
    TextureDesc {
        address_mode: [c_uint; 3], filter_mode: c_uint, flags: c_uint, max_anisotropy: c_uint,
        mipmap_filter_mode: c_uint, mipmap_level_bias: f32, min_mipmap_level_clamp: f32,
        max_mipmap_level_clamp: f32, border_color: [f32; 4], reserved: [c_int; 12],
    }

    /// `CUDA_KERNEL_NODE_PARAMS_v1`; later versions go on with a library's kernel and its context.
    KernelNodeParams {
        function: Handle, grid: [c_uint; 3], block: [c_uint; 3], shared_bytes: c_uint, pointers: *const u64,
        extra: *const usize,
    }

    /// `CUDA_KERNEL_NODE_PARAMS_v2`
    KernelNodeParams2 { start: KernelNodeParams, kernel: Handle, context: Handle }

    /// `CUDA_MEMSET_NODE_PARAMS`
    MemsetNodeParams { to: DevicePtr, pitch: usize, value: c_uint, element: c_uint, width: usize, height: usize }

    /// `CUDA_HOST_NODE_PARAMS`
    HostNodeParams { function: HostFn, data: *mut c_void }

    /// `CUDA_MEM_ALLOC_NODE_PARAMS`
    AllocNodeParams {
        pool: PoolProps, access: *const MemAccessDesc, n_access: usize, bytes: usize, address: DevicePtr,
    }

    /// `CUgraphNodeParams`. The union is kept as words and read as its members.
    NodeParams { kind: c_uint, reserved: [c_int; 3], words: [u64; 29], end: u64 }

    /// `CUgraphEdgeData`
    #[derive(PartialEq, Eq)]
    EdgeData { from_port: u8, to_port: u8, kind: u8, reserved: [u8; 5] }

    /// `CUDA_GRAPH_INSTANTIATE_PARAMS`
    InstantiateParams { flags: u64, upload_stream: Handle, error_node: Handle, result: c_uint }

    /// `CUgraphExecUpdateResultInfo`
    UpdateInfo { result: c_uint, error_node: Handle, error_from: Handle }

    /// `CUlaunchConfig`
    LaunchConfigC {
        grid: [c_uint; 3], block: [c_uint; 3], shared_bytes: c_uint, stream: Handle,
        attributes: *mut LaunchAttribute, n_attributes: c_uint,
    }

    /// `CUlaunchAttribute`
    LaunchAttribute { id: c_uint, pad: [u8; 4], value: [u64; 8] }

    /// `CUmemLocation`
    MemLocation { kind: c_uint, id: c_int }

    /// `CUmemPoolProps`
    PoolProps {
        alloc_type: c_uint, handle_types: c_uint, location: MemLocation, security_attributes: *mut c_void,
        max_size: usize, reserved: [u8; 56],
    }

    /// `CUmemAccessDesc`
    MemAccessDesc { location: MemLocation, flags: c_uint }

    /// `CUctxCreateParams`
    CtxCreateParams { affinity: *mut c_void, n_affinity: c_int, cig: *mut c_void }
}

impl From<CopySide2D> for CopySide {
    fn from(side: CopySide2D) -> Self {
        let CopySide2D { x, y, kind, host, device, array, pitch } = side;
        Self { x, y, kind, host, device, array, pitch, ..Self::default() }
    }
}

/// `CUhostFn`
pub(crate) type HostFn = Option<unsafe extern "C" fn(data: *mut c_void)>;
/// `CUstreamCallback`
pub(crate) type StreamCallback = Option<unsafe extern "C" fn(stream: Handle, status: u32, data: *mut c_void)>;
/// `CUoccupancyB2DSize`
pub(crate) type BlockToShared = Option<unsafe extern "C" fn(block: c_int) -> usize>;
