//! Layouts of the plain data that crosses the C interface: those of cudarc's bindings.

#[path = "../../../driver/src/types.rs"]
#[allow(dead_code, unreachable_pub, reason = "the driver's own file, for its layouts only")]
mod types;

use std::mem::{align_of, offset_of, size_of};

use cudarc::driver::sys;

#[track_caller]
fn check<Ours, Theirs>(pairs: &[(usize, usize)]) {
    assert_eq!(size_of::<Ours>(), size_of::<Theirs>());
    assert_eq!(align_of::<Ours>(), align_of::<Theirs>());
    for (ours, theirs) in pairs {
        assert_eq!(ours, theirs);
    }
}

macro_rules! same {
    ($name:ident: $ours:ty, $theirs:ty, $($($field:ident).+ = $their_field:ident),*) => {
        #[test]
        fn $name() {
            check::<$ours, $theirs>(&[$((offset_of!($ours, $($field).+), offset_of!($theirs, $their_field))),*]);
        }
    };
}

same!(uuid: types::Uuid, sys::CUuuid, bytes = bytes);
same!(properties: types::DeviceProperties, sys::CUdevprop,
    max_grid_size = maxGridSize, simd_width = SIMDWidth, texture_align = textureAlign);
same!(copy_2d: types::Memcpy2D, sys::CUDA_MEMCPY2D,
    src.x = srcXInBytes, src.kind = srcMemoryType, src.host = srcHost, src.array = srcArray, src.pitch = srcPitch,
    dst.x = dstXInBytes, dst.kind = dstMemoryType, dst.device = dstDevice, dst.pitch = dstPitch, height = Height);
same!(copy_3d: types::Memcpy3D, sys::CUDA_MEMCPY3D,
    src.lod = srcLOD, src.kind = srcMemoryType, src.array = srcArray, src.height = srcHeight, dst.x = dstXInBytes,
    dst.kind = dstMemoryType, dst.array = dstArray, dst.height = dstHeight, depth = Depth);
same!(copy_3d_peer: types::Memcpy3D, sys::CUDA_MEMCPY3D_PEER,
    src.context = srcContext, dst.context = dstContext, depth = Depth);
same!(array: types::ArrayDescriptor, sys::CUDA_ARRAY_DESCRIPTOR, format = Format, channels = NumChannels);
same!(array_3d: types::Array3DDescriptor, sys::CUDA_ARRAY3D_DESCRIPTOR,
    depth = Depth, format = Format, channels = NumChannels, flags = Flags);
same!(resource: types::ResourceDesc, sys::CUDA_RESOURCE_DESC, kind = resType, words = res, flags = flags);
same!(texture: types::TextureDesc, sys::CUDA_TEXTURE_DESC,
    filter_mode = filterMode, flags = flags, border_color = borderColor, reserved = reserved);
same!(launch_config: types::LaunchConfigC, sys::CUlaunchConfig,
    block = blockDimX, shared_bytes = sharedMemBytes, stream = hStream, attributes = attrs, n_attributes = numAttrs);
same!(launch_attribute: types::LaunchAttribute, sys::CUlaunchAttribute, id = id, value = value);
same!(kernel_node: types::KernelNodeParams2, sys::CUDA_KERNEL_NODE_PARAMS_v2,
    start.function = func, start.block = blockDimX, start.shared_bytes = sharedMemBytes, start.pointers = kernelParams,
    start.extra = extra, kernel = kern, context = ctx);
same!(memset_node: types::MemsetNodeParams, sys::CUDA_MEMSET_NODE_PARAMS,
    pitch = pitch, value = value, element = elementSize, width = width, height = height);
same!(host_node: types::HostNodeParams, sys::CUDA_HOST_NODE_PARAMS, function = fn_, data = userData);
same!(alloc_node: types::AllocNodeParams, sys::CUDA_MEM_ALLOC_NODE_PARAMS,
    pool = poolProps, access = accessDescs, n_access = accessDescCount, bytes = bytesize, address = dptr);
same!(edge: types::EdgeData, sys::CUgraphEdgeData, from_port = from_port, kind = type_);
same!(instantiate: types::InstantiateParams, sys::CUDA_GRAPH_INSTANTIATE_PARAMS,
    flags = flags, upload_stream = hUploadStream, error_node = hErrNode_out, result = result_out);
same!(update: types::UpdateInfo, sys::CUgraphExecUpdateResultInfo,
    result = result, error_node = errorNode, error_from = errorFromNode);
same!(any_node: types::NodeParams, sys::CUgraphNodeParams, kind = type_, end = reserved2);
same!(location: types::MemLocation, sys::CUmemLocation, kind = type_, id = id);
same!(pool: types::PoolProps, sys::CUmemPoolProps,
    alloc_type = allocType, handle_types = handleTypes, location = location, max_size = maxSize);
same!(access: types::MemAccessDesc, sys::CUmemAccessDesc, location = location, flags = flags);
