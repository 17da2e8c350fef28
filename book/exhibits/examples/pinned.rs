//! Pinned host memory: pages that stay where they are.
//!
//! `cargo run -p exhibits --example pinned`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;
use std::ffi::c_void;

use cudarc::driver::sys::{self, CUpointer_attribute};

const N: usize = 1 << 16;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.new_stream()?;

    // For sending: write-combined, good to write from end to end, slow to read.
    // SAFETY: every element is written before anybody reads it.
    let mut outbound = unsafe { context.alloc_pinned::<f32>(N) }?;
    for (i, place) in outbound.as_mut_slice()?.iter_mut().enumerate() {
        *place = i as f32;
    }
    // For receiving: pinned and cached, because the CPU is going to read it.
    // SAFETY: as before.
    let mut inbound = unsafe { context.alloc_pinned_with_flags::<f32>(N, 0) }?;
    inbound.as_mut_slice()?.fill(0.0);

    // Both copies are in the queue before either is done. They need no help from the CPU.
    let mut on_device = stream.alloc_zeros::<f32>(N)?;
    stream.memcpy_htod(&outbound, &mut on_device)?;
    stream.memcpy_dtoh(&on_device, &mut inbound)?;
    // `as_slice` waits for the copy that fills it.
    assert!(inbound.as_slice()?.iter().enumerate().all(|(i, value)| *value == i as f32));
    println!("{N} floats there and back");

    // The driver knows which memory is its own.
    let pageable = vec![0.0f32; N];
    println!("pinned memory is known to the driver: {}", is_known(inbound.as_ptr()?.cast()));
    println!("a Vec is known to the driver: {}", is_known(pageable.as_ptr().cast()));
    assert!(is_known(inbound.as_ptr()?.cast()) && !is_known(pageable.as_ptr().cast()));
    Ok(())
}

fn is_known(address: *const c_void) -> bool {
    let mut kind = 0u32;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: a place of the type that the manual asks for; the address is only looked up.
    let code = unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, address as u64) };
    code.result().is_ok()
}
// ANCHOR_END: program
