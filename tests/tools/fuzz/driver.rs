//! The emulated driver, for fuzzers that call it.

/// Loads the emulated driver and finds a call in it, by its name.
pub(crate) fn load() -> Result<impl Fn(&str) -> Option<*mut std::ffi::c_void>, String> {
    let path = emulator_client::preload().map_err(|error| error.to_string())?;
    let path = std::ffi::CString::new(path.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: it is loaded already.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        return Err("the driver cannot be opened again".to_owned());
    }
    Ok(move |name: &str| {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: the library is never closed.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    })
}
