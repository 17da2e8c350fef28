//! Allocate, copy, set, free: each direction once.
//!
//! `cargo run -p exhibits --example copies`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::CudaSlice;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();

    // Allocate. Zeroed, or as it is found: reading that before writing it is a mistake.
    let mut zeroed: CudaSlice<f32> = stream.alloc_zeros(1000)?;
    // SAFETY: written below, before anybody reads it.
    let mut raw: CudaSlice<f32> = unsafe { stream.alloc(1000) }?;

    // Host to device, device to device, device to host.
    stream.memcpy_htod(&numbers, &mut raw)?;
    stream.memcpy_dtod(&raw, &mut zeroed)?;
    let mut back = vec![0.0f32; 1000];
    stream.memcpy_dtoh(&zeroed, &mut back)?;
    stream.synchronize()?;
    assert_eq!(back, numbers);
    println!("host -> device -> device -> host: {} floats, equal", back.len());

    // Host to host is memory that Rust copies; the device has no part in it.
    let also_on_host = numbers.clone();
    assert_eq!(also_on_host, numbers);

    // Part of a buffer is a view, with an offset and a length of its own.
    stream.memset_zeros(&mut raw.slice_mut(10..20))?;
    let part = stream.clone_dtoh(&raw.slice(8..22))?;
    println!("raw[8..22] after zeroing raw[10..20]: {part:?}");
    assert_eq!(part[..3], [8.0, 9.0, 0.0]);

    // Free: by dropping. Nothing else knows that the memory is there.
    drop(raw);
    drop(zeroed);
    stream.synchronize()?;
    Ok(())
}
// ANCHOR_END: program
