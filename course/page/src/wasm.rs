//! The exports of the WebAssembly module.
//!
//! A page calls [`allocate`], writes a request there, calls [`run`], and reads the reply: its length in 4 bytes, the
//! lowest first, then JSON.

use std::sync::Mutex;

/// The last reply, which a page may read until the next call.
static REPLY: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Returns memory for a request of `n` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(n: usize) -> *mut u8 {
    Box::leak(vec![0; n].into_boxed_slice()).as_mut_ptr()
}

/// Runs a request, and frees its memory.
///
/// # Safety
/// `request` must be what [`allocate`] returned for `n`, and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(request: *mut u8, n: usize) -> *const u8 {
    // SAFETY: `allocate` leaked a boxed slice of `n` bytes there.
    let request = unsafe { Vec::from_raw_parts(request, n, n) };
    let reply = crate::reply::reply(&String::from_utf8_lossy(&request));
    let length = (reply.len() as u32).to_le_bytes();
    let mut kept = REPLY.lock().expect("a page has one thread");
    *kept = [&length, reply.as_bytes()].concat();
    kept.as_ptr()
}
