//! The read-only path, and a texture object that interpolates.
//!
//! `cargo run -p exhibits --example textures`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;
use std::mem::zeroed;

use cudarc::driver::sys::{
    self, CUaddress_mode_enum, CUarray_format, CUfilter_mode_enum, CUresourcetype_enum,
};
use cudarc::driver::{CudaStream, LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/textures.ptx");

fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;

    // ANCHOR: read_only
    let (n, input) = (256i32, (0..256).map(|i| i as f32).collect::<Vec<_>>());
    let from = stream.clone_htod(&input)?;
    let mut to = stream.alloc_zeros::<f32>(256)?;
    let shift = module.load_function("shift")?;
    let mut launch = stream.launch_builder(&shift);
    launch.arg(&n).arg(&from).arg(&mut to);
    // SAFETY: the arguments are what the kernel takes, both buffers have n floats, and they do not overlap.
    unsafe { launch.launch(LaunchConfig::for_num_elems(256)) }?;
    assert_eq!(stream.clone_dtoh(&to)?[..3], [1.0, 2.0, 3.0]);
    assert!(PTX.contains("ld.global.nc.f32"), "the compiler used what __restrict__ promises");
    println!("read-only loads: {} requests", exhibits::shown("global_load_requests"));
    // ANCHOR_END: read_only

    // ANCHOR: texture
    let (line, array) = texture_of(&stream, &[0.0, 10.0, 40.0, 20.0])?;
    let at = [0.0f32, 0.5, 1.0, 1.25, 2.5, 3.0, 99.0, -99.0];
    let at_on_gpu = stream.clone_htod(&at)?;
    let mut out = stream.alloc_zeros::<f32>(at.len())?;
    let sample = module.load_function("sample")?;
    let n = at.len() as i32;
    let mut launch = stream.launch_builder(&sample);
    launch.arg(&line).arg(&n).arg(&at_on_gpu).arg(&mut out);
    // SAFETY: the arguments are what the kernel takes; the texture lives until below.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;
    let out = stream.clone_dtoh(&out)?;
    for (at, value) in at.iter().zip(&out) {
        println!("  at {at:>5}: {value}");
    }
    assert_eq!(out, [0.0, 5.0, 10.0, 17.5, 30.0, 20.0, 20.0, 0.0]);
    exhibits::expect("texture_requests", 1);
    // SAFETY: made by us, and nobody uses them any more.
    unsafe {
        sys::cuTexObjectDestroy(line).result()?;
        sys::cuArrayDestroy(array).result()?;
    }
    // ANCHOR_END: texture
    Ok(())
}

// ANCHOR: object
/// Returns a line of floats that is read with interpolation, and whose ends go on for ever.
fn texture_of(
    stream: &CudaStream,
    values: &[f32],
) -> Result<(sys::CUtexObject, sys::CUarray), Box<dyn Error>> {
    stream.context().bind_to_thread()?;
    // SAFETY: descriptions are zeroed and filled as the manual asks; all places for results are good.
    unsafe {
        let description = sys::CUDA_ARRAY_DESCRIPTOR {
            Width: values.len(),
            Height: 0,
            Format: CUarray_format::CU_AD_FORMAT_FLOAT,
            NumChannels: 1,
        };
        let mut array = std::ptr::null_mut();
        sys::cuArrayCreate_v2(&mut array, &description).result()?;
        sys::cuMemcpyHtoA_v2(array, 0, values.as_ptr().cast(), size_of_val(values)).result()?;

        let mut resource: sys::CUDA_RESOURCE_DESC = zeroed();
        resource.resType = CUresourcetype_enum::CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
        let mut how: sys::CUDA_TEXTURE_DESC = zeroed();
        how.addressMode = [CUaddress_mode_enum::CU_TR_ADDRESS_MODE_CLAMP; 3];
        how.filterMode = CUfilter_mode_enum::CU_TR_FILTER_MODE_LINEAR;
        let mut texture = 0;
        sys::cuTexObjectCreate(&mut texture, &resource, &how, std::ptr::null()).result()?;
        Ok((texture, array))
    }
}
// ANCHOR_END: object
