//! A second name for a library.
//!
//! The loader takes a library that is already loaded when its own name, the *soname*, is the requested one. So we load
//! an empty library with the wanted soname that needs the real one: symbols that the first lacks are looked up in the
//! second. It is a few hundred bytes, a header and a list of names, and lies in memory, so that nothing stays behind.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Error, Result, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

const NAME: &CStr = c"alias";

/// Makes `soname` another name of the library at `path` in this process. Fails when the loader refuses it.
pub fn alias(soname: &str, path: &Path) -> Result<()> {
    let path = path.to_str().ok_or_else(|| Error::other("the path is not text"))?;
    // SAFETY: a string that ends with NUL.
    let descriptor = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: just made, and not shared.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(&image(soname, path))?;
    let place = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: there is nothing in it that could run; what it needs is loaded, or is what the caller wants loaded.
    let library = unsafe { Library::open(Some(place), RTLD_NOW | RTLD_GLOBAL) }.map_err(Error::other)?;
    // The loader identifies a library by this number, which must be unique.
    std::mem::forget((library, file));
    Ok(())
}

/// Returns an empty ELF library called `soname` that needs `needed` ("Tool Interface Standard", 64 bits).
fn image(soname: &str, needed: &str) -> Vec<u8> {
    const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    const HEADER: u64 = 64;
    const SEGMENT: u64 = 56;
    const N_SEGMENTS: u64 = 3;
    const ENTRY: u64 = 16;
    const N_ENTRIES: u64 = 8;
    const SYMBOL: u64 = 24;

    let dynamic = HEADER + N_SEGMENTS * SEGMENT;
    let hash = dynamic + N_ENTRIES * ENTRY;
    let symbols = hash + 16;
    let strings = symbols + SYMBOL;
    let text = format!("\0{soname}\0{needed}\0");
    let end = strings + text.len() as u64;

    let mut image = Vec::new();
    let mut put = |bytes: &[u8]| image.extend_from_slice(bytes);
    // ELF, 64 bits, little-endian, version 1; a shared object for this machine, with segments and no sections.
    put(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    [3, MACHINE].iter().for_each(|half| put(&half.to_le_bytes()));
    put(&1_u32.to_le_bytes());
    [0, HEADER, 0].iter().for_each(|word: &u64| put(&word.to_le_bytes()));
    put(&0_u32.to_le_bytes());
    let sizes = [HEADER as u16, SEGMENT as u16, N_SEGMENTS as u16, 0, 0, 0];
    sizes.iter().for_each(|half| put(&half.to_le_bytes()));
    // Segments: the whole file, the dynamic section, and a stack that is not executable.
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    const STACK: u32 = 0x6474_e551;
    const READ_WRITE: u32 = 6;
    let list = [dynamic, dynamic, dynamic, hash - dynamic, hash - dynamic, 8];
    for (kind, words) in [(LOAD, [0, 0, 0, end, end, 4096]), (DYNAMIC, list), (STACK, [0, 0, 0, 0, 0, 16])] {
        [kind, READ_WRITE].iter().for_each(|half| put(&half.to_le_bytes()));
        words.iter().for_each(|word: &u64| put(&word.to_le_bytes()));
    }
    // The dynamic section: our name, the needed library, and the addresses of the tables.
    let offset_of_needed = 2 + soname.len() as u64;
    let entries = [(14, 1), (1, offset_of_needed), (4, hash), (5, strings), (6, symbols)];
    let sizes = [(10, text.len() as u64), (11, SYMBOL), (0, 0)];
    for (tag, value) in entries.into_iter().chain(sizes) {
        [tag, value].iter().for_each(|word: &u64| put(&word.to_le_bytes()));
    }
    // A hash table of one bucket and one symbol; the symbol, which is undefined; the names.
    [1_u32, 1, 0, 0].iter().for_each(|word| put(&word.to_le_bytes()));
    put(&[0; SYMBOL as usize]);
    put(text.as_bytes());
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_answers_to_another_name() {
        let name = "libtile-another-name.so";
        // SAFETY: there is nothing in it that could run.
        let library = |name| unsafe { libloading::Library::new(name) };
        assert!(library(name).is_err());
        alias(name, Path::new("libm.so.6")).expect("the C library's own");
        let found = library(name).expect("it was just loaded");
        // SAFETY: the function of the C library has this type.
        let cos = unsafe { found.get::<unsafe extern "C" fn(f64) -> f64>(b"cos\0") }.expect("found in what is needed");
        // SAFETY: `cos` has no precondition.
        assert_eq!(unsafe { cos(0.0) }, 1.0);
    }
}
