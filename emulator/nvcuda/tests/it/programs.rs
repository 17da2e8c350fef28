//! Ordinary programs, through cudarc's safe layer and its bindings.

use std::ffi::c_void;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUdevice_attribute as Attribute, CUfunction_attribute, CUlaunchAttributeID as LaunchAttribute,
    CUpointer_attribute as Pointer, CUstreamCaptureMode::*,
};
use cudarc::driver::{CudaContext, CudaModule, CudaStream, LaunchConfig, PushKernelArg};

use crate::common::{
    DEPENDENT, KERNELS, NONE, OwnContext, alloc, calls, driver, function, in_one_buffer, launch, launch_kernel,
    launch_on, load_library, load_ptx, made, module, ok, rows_to_host, stream, synchronize, words,
};

fn start() -> (Arc<CudaContext>, Arc<CudaStream>, Arc<CudaModule>) {
    driver();
    let context = CudaContext::new(0).expect("there is a device");
    let stream = context.new_stream().expect("a stream can be had");
    let module = context.load_module(KERNELS.into()).expect("the kernels load");
    (context, stream, module)
}

#[test]
fn copies_there_and_back() {
    let (_context, stream, _module) = start();
    let host: Vec<f64> = (0..1000).map(f64::from).collect();
    let device = stream.clone_htod(&host).expect("there is room");
    let copy = stream.clone_dtod(&device).expect("there is room");
    assert_eq!(stream.clone_dtoh(&copy).expect("it comes back"), host);
    let part = copy.slice(10..20);
    assert_eq!(stream.clone_dtoh(&part).expect("it comes back"), host[10..20]);
    let zeros = stream.alloc_zeros::<u8>(77).expect("there is room");
    assert_eq!(stream.clone_dtoh(&zeros).expect("it comes back"), [0; 77]);
}

#[test]
fn a_kernel_fills_a_buffer() {
    let (context, stream, module) = start();
    let fill = module.load_function("fill").expect("it is there");
    let mut buffer = stream.alloc_zeros::<u32>(1000).expect("there is room");
    let (n, value) = (999u32, 42u32);
    let mut launch = stream.launch_builder(&fill);
    launch.arg(&mut buffer).arg(&n).arg(&value);
    launch.record_kernel_launch(sys::CUevent_flags::CU_EVENT_DEFAULT);
    // SAFETY: the arguments are what the kernel takes.
    let events = unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }.expect("it starts");
    let (start, end) = events.expect("they were asked for");
    assert!(start.elapsed_ms(&end).expect("both have happened") >= 0.0);
    let mut expected = vec![42; 999];
    expected.push(0);
    assert_eq!(stream.clone_dtoh(&buffer).expect("it comes back"), expected);
    context.synchronize().expect("nothing went wrong");
}

#[test]
fn pinned_and_managed_memory_reach_kernels() {
    let (context, stream, module) = start();
    // SAFETY: written before it is read.
    let mut pinned = unsafe { context.alloc_pinned::<u32>(100) }.expect("there is room");
    pinned.as_mut_slice().expect("it is at rest").fill(3);
    let device = stream.clone_htod(&pinned).expect("there is room");
    assert_eq!(stream.clone_dtoh(&device).expect("it comes back"), [3; 100]);

    // SAFETY: written before it is read.
    let mut managed = unsafe { context.alloc_unified::<u32>(64, true) }.expect("there is room");
    managed.as_mut_slice().expect("it is at rest").fill(10);
    let increment = module.load_function("increment").expect("it is there");
    let mut launch = stream.launch_builder(&increment);
    launch.arg(&mut managed);
    let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the argument is what the kernel takes, and the buffer has an element for each thread.
    unsafe { launch.launch(config) }.expect("it starts");
    stream.synchronize().expect("nothing went wrong");
    assert_eq!(managed.as_slice().expect("it is at rest"), [11; 64]);
}

#[test]
fn variables_by_name() {
    let (_context, stream, module) = start();
    let mut counter = module.get_global("counter", &stream).expect("it is there");
    assert_eq!(stream.clone_dtoh(&counter).expect("it comes back"), 5u32.to_le_bytes());
    stream.memcpy_htod(&100u32.to_le_bytes(), &mut counter).expect("it fits");
    let variables = module.load_function("variables").expect("it is there");
    let mut out = stream.alloc_zeros::<u32>(1).expect("there is room");
    let index = 2u32;
    let mut launch = stream.launch_builder(&variables);
    launch.arg(&mut out).arg(&index);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are what the kernel takes.
    unsafe { launch.launch(config) }.expect("it starts");
    assert_eq!(stream.clone_dtoh(&out).expect("it comes back"), [300]);
}

#[test]
fn attributes_of_device_and_kernel() {
    let (context, _stream, module) = start();
    let of = |a| context.attribute(a).expect("it is known");
    assert_eq!(of(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_eq!(of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_eq!(of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
    assert_eq!(context.compute_capability().expect("it is known"), (9, 0));
    assert!(!context.uuid().expect("it is known").bytes.iter().all(|b| *b == 0));
    let bounded = module.load_function("bounded").expect("it is there");
    let threads = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    assert_eq!(bounded.get_attribute(threads).expect("it is known"), 64);
    let blocks = |threads| bounded.occupancy_max_active_blocks_per_multiprocessor(threads, 0, None);
    assert_eq!(blocks(64).expect("it is known"), 32);
    assert_eq!(blocks(96).expect("it is known"), 21);
}

#[test]
fn emulated_the_device_says_what_it_is() {
    let (context, _stream, _module) = start();
    assert_eq!(context.name().expect("it has one"), "Emulated GPU (sm_90)");
    assert_eq!(CudaContext::device_count().expect("it is known"), 1);
}

#[test]
fn parameters_can_be_asked_for() {
    let _own = OwnContext::new();
    let fill = function(module(), "fill");
    let (mut offset, mut size) = (0, 0);
    calls! {
        sys::cuFuncGetParamInfo(fill, 2, &mut offset, &mut size),
        sys::cuFuncGetParamInfo(fill, 3, &mut 0, &mut 0) => CUDA_ERROR_INVALID_VALUE,
    }
    assert_eq!((offset, size), (12, 4));
    // SAFETY: a string that lives as long as its module.
    assert_eq!(unsafe { std::ffi::CStr::from_ptr(made!(cuFuncGetName(fill))) }, c"fill");
}

#[test]
fn arguments_in_one_buffer() {
    let _own = OwnContext::new();
    let fill = function(module(), "fill");
    let address = alloc(128);
    let mut buffer = [0u8; 16];
    buffer[..8].copy_from_slice(&address.to_le_bytes());
    buffer[8..12].copy_from_slice(&32u32.to_le_bytes());
    buffer[12..].copy_from_slice(&8u32.to_le_bytes());
    let mut size = buffer.len();
    let mut extra = in_one_buffer(&buffer, &mut size);
    calls! { launch_kernel(fill, [1; 3], [32, 1, 1], 0, null_mut(), NONE, extra.as_mut_ptr()) }
    assert_eq!(words(address, 32), [8; 32]);
}

#[test]
fn extended_and_cooperative_launches() {
    let _own = OwnContext::new();
    let nothing = function(module(), "nothing");
    // SAFETY: plain data, for which zeros are a value.
    let mut config: sys::CUlaunchConfig = unsafe { zeroed() };
    [config.gridDimX, config.gridDimY, config.gridDimZ] = [2, 1, 1];
    [config.blockDimX, config.blockDimY, config.blockDimZ] = [64, 1, 1];
    let (null, none) = (null_mut(), null_mut());
    calls! {
        sys::cuLaunchKernelEx(&config, nothing, none, none),
        sys::cuLaunchCooperativeKernel(nothing, 4, 1, 1, 64, 1, 1, 0, null, none),
        sys::cuLaunchCooperativeKernel(nothing, 1 << 20, 1, 1, 64, 1, 1, 0, null, none)
            => CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    }
    config.blockDimX = 2048;
    calls! {
        sys::cuLaunchKernelEx(&config, nothing, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE,
        synchronize(),
    }
}

#[test]
fn dependent_launches_keep_their_order() {
    let _own = OwnContext::new();
    let (stream, dependent) = (stream(1), function(load_ptx(DEPENDENT), "dependent"));
    let mut address = alloc(4);
    let mut arguments: [*mut c_void; 1] = [(&raw mut address).cast()];
    // SAFETY: plain data, for which zeros are a value.
    let (mut attribute, mut config): (sys::CUlaunchAttribute, sys::CUlaunchConfig) = unsafe { zeroed() };
    attribute.id = LaunchAttribute::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    [config.gridDimX, config.gridDimY, config.gridDimZ] = [1; 3];
    [config.blockDimX, config.blockDimY, config.blockDimZ] = [1; 3];
    (config.hStream, config.attrs, config.numAttrs) = (stream, &mut attribute, 1);
    let mut launch_thrice = || {
        for _ in 0..3 {
            calls! { sys::cuLaunchKernelEx(&config, dependent, arguments.as_mut_ptr(), NONE) }
        }
    };
    calls! { sys::cuMemsetD32Async(address, 1, 1, stream) }
    launch_thrice();
    calls! { sys::cuStreamSynchronize(stream) }
    assert_eq!(words(address, 1), [15]);

    let mut graph = null_mut();
    calls! { sys::cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) }
    launch_thrice();
    calls! { sys::cuStreamEndCapture(stream, &mut graph) }
    let exec = made!(cuGraphInstantiateWithFlags(graph, 0));
    calls! { sys::cuGraphLaunch(exec, stream), sys::cuStreamSynchronize(stream) }
    assert_eq!(words(address, 1), [127]);
}

#[test]
fn memory_is_set_in_lines_and_rectangles() {
    let _own = OwnContext::new();
    let (mut address, mut pitch) = (0, 0);
    calls! { sys::cuMemAllocPitch_v2(&mut address, &mut pitch, 12, 4, 4) }
    assert!(pitch >= 12 && pitch.is_multiple_of(4));
    let mut host = [0u32; 12];
    calls! {
        sys::cuMemsetD8_v2(address, 0xff, pitch * 4),
        sys::cuMemsetD2D32_v2(address, pitch, 7, 3, 4),
        sys::cuMemsetD16_v2(address + 8, 0x1234, 1),
        sys::cuMemcpy2D_v2(&rows_to_host(address, pitch, host.as_mut_ptr().cast(), 12, 4)),
    }
    assert_eq!(host[..3], [7, 7, 0x1234]);
    assert_eq!(host[3..], [7; 9]);
    assert_eq!(words(address + 12, 1), [u32::MAX]);
}

#[test]
fn arrays_and_textures() {
    let _own = OwnContext::new();
    let texels: Vec<f32> = (0..12).map(|i| i as f32).collect();
    // SAFETY: valid places for results; descriptions as the manual requires.
    unsafe {
        let description = sys::CUDA_ARRAY_DESCRIPTOR {
            Width: 4,
            Height: 3,
            Format: sys::CUarray_format::CU_AD_FORMAT_FLOAT,
            NumChannels: 1,
        };
        let array = made!(cuArrayCreate_v2(&description));
        let copy = sys::CUDA_MEMCPY2D {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: texels.as_ptr().cast(),
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstArray: array,
            ..rows_to_host(0, 16, null_mut(), 16, 3)
        };
        ok(sys::cuMemcpy2D_v2(&copy));

        let mut resource: sys::CUDA_RESOURCE_DESC = zeroed();
        resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
        let texture_description: sys::CUDA_TEXTURE_DESC = zeroed();
        let texture = made!(cuTexObjectCreate(&resource, &texture_description, std::ptr::null()));

        let address = alloc(48);
        let sample = function(module(), "sample");
        ok(launch_on(null_mut(), sample, [1; 3], [4, 3, 1], 0, &[address, texture, 4]));
        let back: Vec<f32> = words(address, 12).into_iter().map(f32::from_bits).collect();
        assert_eq!(back, texels);
        ok(sys::cuTexObjectDestroy(texture));
        ok(sys::cuArrayDestroy(array));
    }
}

#[test]
fn pools_keep_books() {
    let _own = OwnContext::new();
    let used_now = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    // SAFETY: valid places for results; a description as the manual requires.
    unsafe {
        let mut props: sys::CUmemPoolProps = zeroed();
        props.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        let pool = made!(cuMemPoolCreate(&props));
        let mut used = 0u64;
        let address = made!(cuMemAllocFromPoolAsync(1 << 20, pool, null_mut()));
        ok(sys::cuMemPoolGetAttribute(pool, used_now, (&raw mut used).cast()));
        assert!(used >= 1 << 20);
        ok(sys::cuMemFreeAsync(address, null_mut()));
        ok(synchronize());
        ok(sys::cuMemPoolGetAttribute(pool, used_now, (&raw mut used).cast()));
        assert_eq!(used, 0);
        ok(sys::cuMemPoolTrimTo(pool, 0));
        ok(sys::cuMemPoolDestroy(pool));
    }
}

#[test]
fn pointers_say_what_they_are() {
    let _own = OwnContext::new();
    let address = alloc(100);
    let (mut kind, mut base, mut size) = (0u32, 0u64, 0usize);
    calls! {
        sys::cuPointerGetAttribute((&raw mut kind).cast(), Pointer::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 50),
        sys::cuPointerGetAttribute((&raw mut base).cast(), Pointer::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 50),
        sys::cuPointerGetAttribute((&raw mut size).cast(), Pointer::CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 50),
    }
    assert_eq!((kind, base, size), (2, address, 100));
    calls! { sys::cuMemGetAddressRange_v2(&mut base, &mut size, address + 99) }
    assert_eq!((base, size), (address, 100));
}

#[test]
fn libraries_enter_contexts_when_used() {
    let _own = OwnContext::new();
    let text = std::ffi::CString::new(KERNELS).expect("PTX has no NUL");
    let mut library = null_mut();
    calls! { load_library(&mut library, text.as_ptr().cast()) }
    let kernel = made!(cuLibraryGetKernel(library, c"fill".as_ptr()));
    let mut fill = made!(cuKernelGetFunction(kernel));
    let address = alloc(128);
    ok(launch(fill, 1, 32, &[address, 32, 6]));
    assert_eq!(words(address, 32), [6; 32]);
    // A kernel of a library can be launched without its function.
    ok(launch(kernel.cast(), 1, 32, &[address, 32, 7]));
    assert_eq!(words(address, 32), [7; 32]);
    calls! { sys::cuLibraryUnload(library) }
    // SAFETY: a valid place for the result.
    assert_ne!(unsafe { sys::cuKernelGetFunction(&mut fill, null_mut()) }, sys::CUresult::CUDA_SUCCESS);
}

#[test]
fn registered_memory_is_reached_by_kernels() {
    let _own = OwnContext::new();
    let mut host = vec![1u32; 4096];
    let pointer = host.as_mut_ptr().cast::<c_void>();
    let mut address = 0;
    calls! {
        sys::cuMemHostRegister_v2(pointer, 16384, 2),
        sys::cuMemHostRegister_v2(pointer, 16384, 2) => CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
        sys::cuMemHostGetDevicePointer_v2(&mut address, pointer, 0),
        launch(function(module(), "increment"), 1, 32, &[address]),
        synchronize(),
        sys::cuMemHostUnregister(pointer),
    }
    assert_eq!(host[..33].iter().sum::<u32>(), 65);
}
