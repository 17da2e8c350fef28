//! Streams keep their order, events tie them together and measure them.
//!
//! `cargo run -p exhibits --example streams_and_events`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/streams_and_events.ptx");
const N: usize = 1 << 20;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let (first, second) = (context.new_stream()?, context.new_stream()?);
    let module = context.load_module(PTX.into())?;
    let (fill, add) = (module.load_function("fill")?, module.load_function("add")?);
    let (n, config) = (N as i32, LaunchConfig::for_num_elems(N as u32));
    let mut x = first.alloc_zeros::<f32>(N)?;
    let mut y = second.alloc_zeros::<f32>(N)?;

    // In the first stream: x = 2. The event marks the place behind it.
    let start = first.record_event(Some(CU_EVENT_DEFAULT))?;
    let two = 2.0f32;
    let mut launch = first.launch_builder(&fill);
    launch.arg(&n).arg(&two).arg(&mut x);
    // SAFETY: the arguments are what the kernel takes, and x has n floats.
    unsafe { launch.launch(config) }?;
    let filled = first.record_event(Some(CU_EVENT_DEFAULT))?;

    // In the second: y = 1, which needs nobody, then y += x, which needs the first.
    let one = 1.0f32;
    let mut launch = second.launch_builder(&fill);
    launch.arg(&n).arg(&one).arg(&mut y);
    // SAFETY: as before, with y.
    unsafe { launch.launch(config) }?;
    second.wait(&filled)?; // the second stream waits; the program does not
    let mut launch = second.launch_builder(&add);
    launch.arg(&n).arg(&x).arg(&mut y);
    // SAFETY: both buffers have n floats, and x is written by now.
    unsafe { launch.launch(config) }?;

    second.synchronize()?; // now the program waits
    assert!(filled.is_complete());
    let y = second.clone_dtoh(&y)?;
    assert!(y.iter().all(|y| *y == 3.0));
    println!("y = 1 + 2 in all {N} places");
    // On the emulated device an event's time is what the work took here: it says nothing of a GPU.
    assert!(start.elapsed_ms(&filled)? >= 0.0);
    Ok(())
}
// ANCHOR_END: program
