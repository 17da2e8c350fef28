//! Where libcublas is, so that cudarc finds it. On machines that have CUDA, but not on the library path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cudarc::cublas::sys::is_culib_present;

/// Makes sure that cudarc will find the library. It panics when it does not.
///
/// # Errors
/// With where it was looked for.
pub(crate) fn provide() -> Result<(), String> {
    static PROVIDED: OnceLock<Result<(), String>> = OnceLock::new();
    PROVIDED.get_or_init(search).clone()
}

fn search() -> Result<(), String> {
    if is_there() {
        return Ok(());
    }
    // Later places are looked for only when the earlier ones have nothing: asking Python takes a moment.
    let places: [fn() -> Vec<PathBuf>; 2] = [toolkits, packages];
    let mut tried = Vec::new();
    for place in places {
        for folder in place() {
            if versions_in(&folder).iter().any(|name| preload(&folder, name)) {
                return Ok(());
            }
            tried.push(folder.display().to_string());
        }
    }
    Err(format!(
        "cuBLAS is not installed here: there is no libcublas.so on the library path, nor in {}; \
         where you have it, put its folder on LD_LIBRARY_PATH",
        tried.join(", ")
    ))
}

/// Whether cudarc finds it now.
fn is_there() -> bool {
    // SAFETY: loads a library that is about to be used anyway.
    unsafe { is_culib_present() }
}

/// Where CUDA's installer puts it.
fn toolkits() -> Vec<PathBuf> {
    let roots = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].map(|name| std::env::var_os(name).map(PathBuf::from));
    let roots = roots
        .into_iter()
        .flatten()
        .chain(["/usr/local/cuda".into(), "/opt/cuda".into()]);
    let folders = roots.flat_map(|root: PathBuf| [root.join("lib64"), root.join("targets/x86_64-linux/lib")]);
    let mut folders: Vec<_> = folders.collect();
    folders.dedup();
    folders
}

/// Where NVIDIA's Python packages put it: `nvidia/*/lib` in a folder of packages.
fn packages() -> Vec<PathBuf> {
    let paths = Command::new("python3")
        .args(["-c", r"import sys; print('\n'.join(sys.path))"])
        .output();
    let paths = paths.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    let nvidia = paths.lines().map(|path| Path::new(path).join("nvidia"));
    let folders = nvidia.flat_map(std::fs::read_dir).flatten().flatten();
    let mut folders: Vec<_> = folders
        .map(|entry| entry.path().join("lib"))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// `libcublas.so.13` and the like, newest first.
fn versions_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let number = |name: &String| {
        name.strip_prefix("libcublas.so.")
            .and_then(|n| n.parse::<u32>().ok())
    };
    let mut numbered: Vec<_> = names.filter_map(|name| Some((number(&name)?, name))).collect();
    numbered.sort_unstable_by(|a, b| b.cmp(a));
    numbered.into_iter().map(|(_, name)| name).collect()
}

#[cfg(not(target_os = "linux"))]
fn preload(_: &Path, _: &str) -> bool {
    false
}

/// Loads a library by its path, for good, so that cudarc gets it when it asks by name.
#[cfg(target_os = "linux")]
fn preload(folder: &Path, name: &str) -> bool {
    // It needs this one from the same folder, and does not always know where it is.
    let _ = keep(&folder.join(name.replace("cublas", "cublasLt")));
    if !keep(&folder.join(name)) {
        return false;
    }
    // The loader now knows the library as `libcublas.so.12`, which is a name that cudarc asks for. It does not ask
    // for `libcublas.so.13`, and needs another name for it.
    is_there() || (alias::load("libcublas.so", &folder.join(name)).is_ok() && is_there())
}

/// Loads a library and never lets it go.
#[cfg(target_os = "linux")]
fn keep(path: &Path) -> bool {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: NVIDIA's library, whose initialisers run in every program that uses it.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }
        .map(std::mem::forget)
        .is_ok()
}

/// Another name for a library.
///
/// The loader takes a library that is already there when its own name, the *soname*, is the one asked for. So we load
/// an empty library with the wanted soname that needs the real one: what is not found in the first is looked up in the
/// second. It is a few hundred bytes: a header, and a list of names.
#[cfg(target_os = "linux")]
mod alias {
    use std::fs::File;
    use std::io::{Error, Result, Write as _};
    use std::path::Path;

    /// Makes `soname` another name of the library at `path`.
    pub(super) fn load(soname: &str, path: &Path) -> Result<()> {
        let path = path
            .to_str()
            .ok_or_else(|| Error::other("the path is not text"))?;
        let file = std::env::temp_dir().join(format!("{soname}.{}", std::process::id()));
        // New, so that nobody else decides what is loaded.
        File::create_new(&file)?.write_all(&image(soname, path))?;
        let loaded = super::keep(&file);
        std::fs::remove_file(&file)?;
        if loaded {
            Ok(())
        } else {
            Err(Error::other("the loader does not take it"))
        }
    }

    /// A shared library called `soname` that has nothing, and needs `needed`. After the "Tool Interface Standard:
    /// Executable and Linking Format", 64 bits.
    pub(super) fn image(soname: &str, needed: &str) -> Vec<u8> {
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
        [0, HEADER, 0]
            .iter()
            .for_each(|word: &u64| put(&word.to_le_bytes()));
        put(&0_u32.to_le_bytes());
        let sizes = [HEADER as u16, SEGMENT as u16, N_SEGMENTS as u16, 0, 0, 0];
        sizes.iter().for_each(|half| put(&half.to_le_bytes()));
        // Segments: all of the file, the list of names, and a stack that is no code.
        const LOAD: u32 = 1;
        const DYNAMIC: u32 = 2;
        const STACK: u32 = 0x6474_e551;
        const READ_WRITE: u32 = 6;
        let list = [dynamic, dynamic, dynamic, hash - dynamic, hash - dynamic, 8];
        for (kind, words) in [
            (LOAD, [0, 0, 0, end, end, 4096]),
            (DYNAMIC, list),
            (STACK, [0, 0, 0, 0, 0, 16]),
        ] {
            [kind, READ_WRITE]
                .iter()
                .for_each(|half| put(&half.to_le_bytes()));
            words.iter().for_each(|word: &u64| put(&word.to_le_bytes()));
        }
        // The list: our name, what is needed, and where the tables are.
        let offset_of_needed = 2 + soname.len() as u64;
        let entries = [
            (14, 1),
            (1, offset_of_needed),
            (4, hash),
            (5, strings),
            (6, symbols),
        ];
        let sizes = [(10, text.len() as u64), (11, SYMBOL), (0, 0)];
        for (tag, value) in entries.into_iter().chain(sizes) {
            [tag, value]
                .iter()
                .for_each(|word: &u64| put(&word.to_le_bytes()));
        }
        // A hash table of one bucket and one symbol; the symbol, which is nobody; the names.
        [1_u32, 1, 0, 0].iter().for_each(|word| put(&word.to_le_bytes()));
        put(&[0; SYMBOL as usize]);
        put(text.as_bytes());
        image
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_library_answers_to_another_name() {
        let name = "libtile-another-name.so";
        // SAFETY: there is nothing in it that could run.
        let library = |name| unsafe { libloading::Library::new(name) };
        assert!(library(name).is_err());
        alias::load(name, Path::new("libm.so.6")).expect("the C library's own");
        let alias = library(name).expect("it was just loaded");
        // SAFETY: the function of the C library has this type.
        let cos = unsafe { alias.get::<unsafe extern "C" fn(f64) -> f64>(b"cos\0") }
            .expect("found in what is needed");
        // SAFETY: as above.
        assert_eq!(unsafe { cos(0.0) }, 1.0);
    }

    #[test]
    fn the_newest_version_comes_first() {
        let folder = std::env::temp_dir().join(format!("lab-cublas-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in [
            "libcublas.so",
            "libcublas.so.9",
            "libcublas.so.13",
            "libcublas.so.12.4.5",
            "libcublasLt.so.13",
        ] {
            std::fs::write(folder.join(name), "").expect("a file");
        }
        assert_eq!(versions_in(&folder), ["libcublas.so.13", "libcublas.so.9"]);
        // What is not a library is passed over.
        assert!(!preload(&folder, "libcublas.so.13"));
        std::fs::remove_dir_all(&folder).expect("a folder");
    }
}
