//! Tensor maps: checks of their arguments, and a program that uses them.

use std::collections::BTreeMap;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult, CUresult::*};
use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, DeviceRepr, LaunchConfig, PushKernelArg};
use serde::Deserialize;

use crate::common::{OwnContext, calls, driver, silence};

/// Arguments of `cuTensorMapEncodeTiled`; enums by their numbers.
#[derive(Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    kind: u32,
    rank: u32,
    address: u64,
    dims: [u64; 6],
    strides: [u64; 5],
    box_dims: [u32; 6],
    steps: [u32; 6],
    interleave: u32,
    swizzle: u32,
    l2_promotion: u32,
    fill: u32,
}

impl Default for Arguments {
    /// A matrix of 100 rows of 64 floats, and a box of 8 rows of 16.
    fn default() -> Self {
        Self {
            kind: 7,
            rank: 2,
            address: 0x7F00_0000_0000,
            dims: [64, 100, 1, 1, 1, 1],
            strides: [256, 25_600, 25_600, 25_600, 25_600],
            box_dims: [16, 8, 1, 1, 1, 1],
            steps: [1; 6],
            interleave: 0,
            swizzle: 0,
            l2_promotion: 0,
            fill: 0,
        }
    }
}

type Encode = unsafe extern "C" fn(
    *mut sys::CUtensorMap,
    u32,
    u32,
    u64,
    *const u64,
    *const u64,
    *const u32,
    *const u32,
    u32,
    u32,
    u32,
    u32,
) -> CUresult;

/// Returns the call with enums as numbers: the bindings cannot express invalid ones.
fn encode() -> Encode {
    let (mut pointer, mut status) = (null_mut(), sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
    // SAFETY: valid places for results; the symbol has this type.
    unsafe {
        let name = c"cuTensorMapEncodeTiled".as_ptr();
        crate::common::ok(sys::cuGetProcAddress_v2(name, &mut pointer, 12000, 0, &mut status));
        std::mem::transmute::<*mut std::ffi::c_void, Encode>(pointer)
    }
}

fn call(a: &Arguments, map: &mut sys::CUtensorMap) -> CUresult {
    let Arguments { kind, rank, address, interleave, swizzle, l2_promotion, fill, .. } = *a;
    let (dims, strides) = (a.dims.as_ptr(), a.strides.as_ptr());
    let (boxes, steps) = (a.box_dims.as_ptr(), a.steps.as_ptr());
    let encode = encode();
    // SAFETY: the lists are as long as any rank that is not refused.
    unsafe { encode(map, kind, rank, address, dims, strides, boxes, steps, interleave, swizzle, l2_promotion, fill) }
}

#[test]
fn tensor_maps_follow_the_rules() {
    let _own = OwnContext::new();
    let results: BTreeMap<String, BTreeMap<String, Arguments>> =
        toml::from_str(include_str!("tensor.toml")).expect("maps by their results");
    let mut wrong = Vec::new();
    for (want, maps) in results {
        for (what, arguments) in maps {
            let got = format!("{:?}", call(&arguments, &mut sys::CUtensorMap { opaque: [0; 16] }));
            if got != want {
                wrong.push(format!("{what}: {got}, not {want}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tensor_maps_keep_off_bad_pointers() {
    silence();
    let _own = OwnContext::new();
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let (dims, strides, boxes, steps) = ([64u64, 64], [256u64], [16u32, 8], [1u32, 1]);
    for null in ["map", "dims", "strides", "box", "steps"] {
        fn unless_null<T>(place: *const T, is_null: bool) -> *const T {
            if is_null { std::ptr::null() } else { place }
        }
        let map = unless_null(&raw mut map, null == "map").cast_mut();
        let dims = unless_null(dims.as_ptr(), null == "dims");
        let strides = unless_null(strides.as_ptr(), null == "strides");
        let boxes = unless_null(boxes.as_ptr(), null == "box");
        let steps = unless_null(steps.as_ptr(), null == "steps");
        // SAFETY: null, or as long as the rank says.
        let got = unsafe { encode()(map, 7, 2, 1 << 40, dims, strides, boxes, steps, 0, 0, 0, 0) };
        assert_eq!(got, CUDA_ERROR_INVALID_VALUE, "{null}");
    }
}

#[test]
fn an_address_is_replaced() {
    let _own = OwnContext::new();
    let [mut map, mut other] = [sys::CUtensorMap { opaque: [0; 16] }; 2];
    let mut moved = Arguments::default();
    assert_eq!(call(&moved, &mut map), CUDA_SUCCESS);
    moved.address += 4096;
    assert_eq!(call(&moved, &mut other), CUDA_SUCCESS);
    calls! {
        sys::cuTensorMapReplaceAddress(&mut map, (moved.address + 8) as *mut _) => CUDA_ERROR_INVALID_VALUE,
        sys::cuTensorMapReplaceAddress(&mut map, moved.address as *mut _),
    }
    assert_eq!(map.opaque, other.opaque);
}

#[test]
fn emulated_what_is_no_map_or_not_there() {
    let _own = OwnContext::new();
    let mut zeros = sys::CUtensorMap { opaque: [0; 16] };
    let arguments = Arguments { rank: 3, interleave: 1, ..Arguments::default() };
    assert_eq!(call(&arguments, &mut zeros), CUDA_ERROR_NOT_SUPPORTED);
    // SAFETY: a place of that size.
    let code = unsafe { sys::cuTensorMapReplaceAddress(&mut zeros, 4096 as *mut _) };
    assert_eq!(code, CUDA_ERROR_INVALID_VALUE);
}

/// A tensor map as a kernel argument: the bindings leave it to the program to declare that its bytes may be passed.
#[repr(transparent)]
struct Map(sys::CUtensorMap);

// SAFETY: plain bytes, which the driver wrote for kernels.
unsafe impl DeviceRepr for Map {}

impl Map {
    /// Maps a box of a row-major matrix of floats at a device address.
    fn of(address: u64, rows: usize, columns: usize, box_dims: [u32; 2], swizzle: u32) -> Self {
        let mut map = sys::CUtensorMap { opaque: [0; 16] };
        let arguments = Arguments {
            address,
            dims: [columns as u64, rows as u64, 1, 1, 1, 1],
            strides: [4 * columns as u64; 5],
            box_dims: [box_dims[0], box_dims[1], 1, 1, 1, 1],
            swizzle,
            ..Arguments::default()
        };
        assert_eq!(call(&arguments, &mut map), CUDA_SUCCESS);
        Self(map)
    }
}

/// Computes C = A * B with the kernel of `product.cu`, on as many blocks.
#[track_caller]
fn multiply(m: usize, n: usize, k: usize, blocks: u32) {
    driver();
    let context = CudaContext::new(0).expect("there is a device");
    let stream = context.default_stream();
    let text = include_str!("../../../../tests/data/tensor/product.ptx");
    let module = context.load_module(text.into()).expect("the kernel loads");
    let kernel = module.load_function("product").expect("it is there");
    let value = |i: usize| (i * 7 % 11) as f32 - 5.0;
    let a: Vec<f32> = (0..m * k).map(value).collect();
    let b: Vec<f32> = (0..k * n).map(|i| value(i / 3)).collect();
    let (a_there, b_there) =
        (stream.clone_htod(&a).expect("there is room"), stream.clone_htod(&b).expect("there is room"));
    let mut c_there = stream.alloc_zeros::<f32>(m * n).expect("there is room");
    let maps = {
        let (a, _reads_a) = a_there.device_ptr(&stream);
        let (b, _reads_b) = b_there.device_ptr(&stream);
        let (c, _writes_c) = c_there.device_ptr_mut(&stream);
        [Map::of(a, m, k, [16, 64], 2), Map::of(b, k, n, [64, 16], 0), Map::of(c, m, n, [64, 64], 0)]
    };
    let sizes = [m as i32, n as i32, k as i32];
    let config =
        LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (384, 1, 1), shared_mem_bytes: 3 * 8192 + 16_384 + 48 };
    let mut launch = stream.launch_builder(&kernel);
    sizes.iter().for_each(|size| {
        launch.arg(size);
    });
    maps.iter().for_each(|map| {
        launch.arg(map);
    });
    // SAFETY: the arguments are what the kernel takes, and its boxes lie in the matrices.
    unsafe { launch.launch(config) }.expect("it starts");
    let c = stream.clone_dtoh(&c_there).expect("it ends well");
    for (row, found) in c.chunks_exact(n).enumerate() {
        for (column, found) in found.iter().enumerate() {
            let products = (0..k).map(|i| a[row * k + i] * b[i * n + column]);
            assert_eq!(*found, products.sum::<f32>(), "C[{row}][{column}]");
        }
    }
}

#[test]
fn a_pipeline_of_boxes_multiplies_matrices() {
    multiply(64, 64, 16, 1);
    multiply(128, 192, 80, 2);
    // Edges in each direction.
    multiply(100, 132, 52, 3);
}
