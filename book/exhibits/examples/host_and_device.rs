//! Two memories, two processors, and a queue between them.
//!
//! `cargo run -p exhibits --example host_and_device`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/host_and_device.ptx");

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?; // CudaContext::new(0)
    let stream = context.default_stream();
    let twice = context.load_module(PTX.into())?.load_function("twice")?;
    println!("{}", context.name()?);

    let mut on_host = vec![1.0f32, 2.0, 3.0, 4.0];
    let mut on_device = stream.clone_htod(&on_host)?; // a copy: from here on there are two
    on_host[0] = 100.0; // the device does not see this

    let n = on_host.len() as i32;
    let mut launch = stream.launch_builder(&twice);
    launch.arg(&n).arg(&mut on_device);
    // SAFETY: the arguments are what the kernel takes, and the buffer has n floats.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;

    println!("on the host still: {on_host:?}");
    let back = stream.clone_dtoh(&on_device)?; // waits until the kernel is done
    println!("from the device:   {back:?}");

    assert_eq!(on_host, [100.0, 2.0, 3.0, 4.0]);
    assert_eq!(back, [2.0, 4.0, 6.0, 8.0]);
    Ok(())
}
// ANCHOR_END: program
