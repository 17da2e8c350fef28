//! Functions of the emulated device beyond CUDA, for programs and tests.
//!
//! The driver is a library that the program's CUDA bindings loaded, and it holds all the state; nothing of it is linked
//! into the program. So everything here looks up the extra functions in the *loaded* driver (`driver::extensions`
//! documents them). NVIDIA's driver does not have them: [`find`] returns `None` there.

#[cfg(target_os = "linux")]
mod alias;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::Library;

#[cfg(target_os = "linux")]
pub use alias::alias;

/// The emulated driver of this process. Settings hold for launches of the thread that makes them.
#[derive(Debug, Clone, Copy)]
pub struct Emulator {
    version: unsafe extern "C" fn(*mut *const c_char) -> u32,
    set_checks: unsafe extern "C" fn(c_int) -> u32,
    set_budget: unsafe extern "C" fn(u64) -> u32,
    set_threads: unsafe extern "C" fn(u32) -> u32,
    set_diagnosis: unsafe extern "C" fn(c_int) -> u32,
    name_parameters: unsafe extern "C" fn(*const c_char, *const *const c_char, u32) -> u32,
    add_source: unsafe extern "C" fn(*const c_char, *const c_char) -> u32,
    predict_next: unsafe extern "C" fn() -> u32,
    report: unsafe extern "C" fn(*mut c_char, *mut usize) -> u32,
}

/// Which counters and checks a launch has, as `simt::launch::CheckLevel` documents; `TILE_CHECK` names the same levels.
/// The numbers are those of `tile_set_checks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum CheckLevel {
    Off = 0,
    Count = 1,
    Checked = 2,
    CheckedWithGlobalRaces = 3,
}

/// Finds the emulated driver, if it is the first library in `cudarc`'s order; `None` with a real driver, or none.
pub fn find() -> Option<Emulator> {
    static FOUND: OnceLock<Option<Emulator>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let library = driver_names().iter().find_map(|name| {
            // SAFETY: loading a CUDA driver runs its initialisers, which is what the program is about to do anyway.
            unsafe { Library::new(*name) }.ok()
        })?;
        let find = |name: &CStr| {
            // SAFETY: only the address is taken here.
            let symbol = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
            symbol.map_or(std::ptr::null(), |s| s.cast_const())
        };
        // SAFETY: the addresses are those of the library's symbols.
        let found = unsafe { Emulator::from_symbols(find) };
        // The library stays loaded: the addresses above must stay valid.
        std::mem::forget(library);
        found
    })
}

fn driver_names() -> &'static [&'static str] {
    if cfg!(windows) {
        &["cuda.dll", "nvcuda.dll"]
    } else if cfg!(target_os = "macos") {
        &["libcuda.dylib", "libnvcuda.dylib"]
    } else {
        &["libcuda.so", "libcuda.so.1", "libnvcuda.so"]
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PreloadError {
    /// The library is not where Cargo puts it.
    #[error("no {name} beside this program: looked in {}", .looked.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "))]
    NotFound { name: String, looked: Vec<PathBuf> },
    #[error("{} cannot be loaded", .path.display())]
    Load {
        path: PathBuf,
        #[source]
        source: libloading::Error,
    },
    /// The library is loaded, but not under the name that programs try first.
    #[error("{} cannot be loaded as libcuda.so", .path.display())]
    Name {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// Makes this process use the emulated driver also where there is a real one: loads it by its absolute path. The
/// shared-object name is `libcuda.so.1`, as that of NVIDIA's driver, and `libcuda.so` becomes another name, the first
/// that `cudarc` tries: a library that is loaded under a name wins. Call it before the first CUDA call.
pub fn preload() -> Result<PathBuf, PreloadError> {
    let name = libloading::library_filename("nvcuda");
    let mut looked = Vec::new();
    if let Ok(program) = std::env::current_exe()
        && let Some(folder) = program.parent()
    {
        // `deps` first: a copy beside the program may be older. Tests lie in `deps`, examples in a folder beside it.
        looked.push(folder.join("deps"));
        looked.extend(folder.parent().map(|up| up.join("deps")));
        looked.push(folder.to_owned());
    }
    let path = looked.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    let Some(path) = path else {
        return Err(PreloadError::NotFound { name: name.to_string_lossy().into_owned(), looked });
    };
    // SAFETY: the library's initialisers do nothing.
    match unsafe { Library::new(&path) } {
        Ok(library) => std::mem::forget(library),
        Err(source) => return Err(PreloadError::Load { path, source }),
    }
    #[cfg(target_os = "linux")]
    if let Err(source) = alias("libcuda.so", &path) {
        return Err(PreloadError::Name { path, source });
    }
    Ok(path)
}

impl Emulator {
    /// Creates a client from a function that finds symbols in a driver library. Null addresses count as absent.
    ///
    /// # Safety
    /// Addresses that `find` returns are those of the symbols.
    unsafe fn from_symbols(find: impl Fn(&CStr) -> *const c_void) -> Option<Self> {
        macro_rules! symbol {
            ($name:literal) => {{
                let address = find($name);
                if address.is_null() {
                    return None;
                }
                // SAFETY: the caller promised the symbol; only the emulated driver exports one of this name, with the
                // field's type of function.
                unsafe { std::mem::transmute_copy(&address) }
            }};
        }
        Some(Self {
            version: symbol!(c"tile_version"),
            set_checks: symbol!(c"tile_set_checks"),
            set_budget: symbol!(c"tile_set_budget"),
            set_threads: symbol!(c"tile_set_threads"),
            set_diagnosis: symbol!(c"tile_set_diagnosis"),
            name_parameters: symbol!(c"tile_name_parameters"),
            add_source: symbol!(c"tile_add_source"),
            predict_next: symbol!(c"tile_predict_next"),
            report: symbol!(c"tile_report"),
        })
    }

    /// Returns the version, such as `libnvcuda 0.1.0, emulated GPU`.
    pub fn version(&self) -> String {
        let mut text = std::ptr::null();
        // SAFETY: writes one pointer, to text that is never freed.
        unsafe {
            if (self.version)(&mut text) != 0 || text.is_null() {
                return String::new();
            }
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }

    /// Sets the level of checks for this thread's launches; `None` means that of `TILE_CHECK`.
    pub fn set_checks(&self, level: Option<CheckLevel>) {
        // SAFETY: takes a number.
        unsafe { (self.set_checks)(level.map_or(-1, |level| level as c_int)) };
    }

    /// Sets the thread-instructions after which launches are stopped, 0 for no limit; `None` means `TILE_BUDGET`.
    pub fn set_budget(&self, thread_instructions: Option<u64>) {
        // SAFETY: takes a number.
        unsafe { (self.set_budget)(thread_instructions.unwrap_or(u64::MAX)) };
    }

    /// Sets the number of CPU threads for this thread's launches, 0 for one per core; `None`: that of `TILE_THREADS`.
    pub fn set_threads(&self, n: Option<u32>) {
        // SAFETY: takes a number.
        unsafe { (self.set_threads)(n.unwrap_or(u32::MAX)) };
    }

    /// Prints diagnostics of this thread's launches on stderr (they are in the report in any case); `None` means as in
    /// `TILE_DIAGNOSIS`.
    pub fn set_diagnosis(&self, on: Option<bool>) {
        // SAFETY: takes a number.
        unsafe { (self.set_diagnosis)(on.map_or(-1, c_int::from)) };
    }

    /// Names a kernel's parameters, for messages: for all its launches, or without a kernel, for the next launch.
    pub fn name_parameters(&self, kernel: Option<&str>, names: &[&str]) {
        let kernel = kernel.map(c_text);
        let names: Vec<CString> = names.iter().map(|n| c_text(n)).collect();
        let pointers: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
        let kernel = kernel.as_ref().map_or(std::ptr::null(), |k| k.as_ptr());
        // SAFETY: as many strings that end with NUL as passed, all alive during the call.
        unsafe { (self.name_parameters)(kernel, pointers.as_ptr(), pointers.len() as u32) };
    }

    /// Registers the text of a source file under its path in the PTX, for messages. Text is cut at a NUL.
    pub fn add_source(&self, path: &str, text: &str) {
        let (path, text) = (c_text(path), c_text(text));
        // SAFETY: strings that end with NUL, alive during the call.
        unsafe { (self.add_source)(path.as_ptr(), text.as_ptr()) };
    }

    /// Predicts this thread's next launch instead of running it: its results are incomplete; see [`Self::report`].
    pub fn predict_next(&self) {
        // SAFETY: no arguments.
        unsafe { (self.predict_next)() };
    }

    /// Waits for this thread's last launch, and returns its report as JSON. `None` when there is none.
    pub fn report(&self) -> Option<String> {
        let mut length = 0;
        // SAFETY: queries the length only.
        if unsafe { (self.report)(std::ptr::null_mut(), &mut length) } != 0 {
            return None;
        }
        let mut buffer = vec![0u8; length];
        // SAFETY: the buffer has the length that is passed.
        if unsafe { (self.report)(buffer.as_mut_ptr().cast(), &mut length) } != 0 {
            return None;
        }
        buffer.pop();
        String::from_utf8(buffer).ok()
    }
}

fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}
