//! NVIDIA's run-time compiler: the library, and the functions of it that we call.
//!
//! It needs no GPU. Any 12.4 installation does: a CUDA toolkit, a Python package, or `cargo xtask setup`.

#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use anyhow::{Context, anyhow, ensure};
use libloading::Library;

type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
/// Functions that return the size of something that was made, and its bytes.
type Buffer = (Size, Text);
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

/// Committed PTX is PTX ISA 8.4, so that every driver since CUDA 12.4 reads it.
pub const VERSION: (i32, i32) = (12, 4);

/// File of the compiler, and the start of the name of its builtins, which the minor version and an ending follow.
pub(crate) const LIBRARY: &str = if cfg!(windows) { "nvrtc64_120_0.dll" } else { "libnvrtc.so.12" };
const BUILTINS: [&str; 2] =
    if cfg!(windows) { ["nvrtc-builtins64_12", ".dll"] } else { ["libnvrtc-builtins.so.12.", ""] };

/// The compiler refuses a source, with these messages.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DoesNotCompile(pub String);

/// A compiler that was found. It is loaded in another process alone ([`crate::compiler`]): one that is cut off or
/// damaged ends the process that loads it.
#[derive(Debug, Clone)]
pub struct Nvrtc {
    /// Version of the compiler: major and minor, such as `(12, 4)`.
    pub version: (i32, i32),
    pub directory: PathBuf,
    /// Folder with `cuda_fp16.h`, where one was found.
    pub include: Option<PathBuf>,
}

/// The functions of the loaded compiler.
pub struct LoadedNvrtc {
    pub nvrtc: Nvrtc,
    create: Create,
    compile: Compile,
    destroy: Destroy,
    ptx: Buffer,
    cubin: Buffer,
    log: Buffer,
    /// Kept open for as long as the functions are used.
    _libraries: Vec<Library>,
}

/// A source, and how to compile it.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct CompileInput {
    pub source: String,
    /// As it is called in messages and in the lines of the code.
    pub name: String,
    /// Headers that are not looked for in folders: as `#include` names them, and their text.
    pub headers: Vec<(String, String)>,
    pub options: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Compiled {
    /// PTX as the compiler printed it.
    pub ptx: String,
    /// Machine code, where the architecture in the options is an `sm_XX`.
    #[serde(default)]
    pub cubin: Vec<u8>,
    /// Warnings, and the messages of ptxas.
    pub log: String,
}

impl Nvrtc {
    /// Describes the compiler: `NVRTC 12.4 in /folder`.
    pub fn title(&self) -> String {
        let (major, minor) = self.version;
        format!("NVRTC {major}.{minor} in {}", crate::paths::display_path(&self.directory))
    }
}

impl LoadedNvrtc {
    /// Loads the compiler of a folder into this process, which ends if it is damaged.
    pub fn load(directory: &Path) -> anyhow::Result<Self> {
        let mut libraries = Vec::new();
        // The compiler opens its builtins by bare name; loading them first by path spares the user a library path.
        // A sandbox need not let this process list the folder.
        let builtins = (0..=9).map(|minor| directory.join(BUILTINS.join(&minor.to_string())));
        for path in builtins.filter(|path| path.is_file()).chain([directory.join(LIBRARY)]) {
            // SAFETY: the initialisers of NVIDIA's own libraries; the user chose the folder.
            libraries.push(unsafe { Library::new(&path) }?);
        }
        let library = libraries.last().context("no library")?;
        // SAFETY: the types are those of <nvrtc.h>, unchanged since CUDA 7.
        unsafe {
            let version: Version = *library.get(b"nvrtcVersion")?;
            let (mut major, mut minor) = (0, 0);
            version(&mut major, &mut minor);
            Ok(Self {
                create: *library.get(b"nvrtcCreateProgram")?,
                compile: *library.get(b"nvrtcCompileProgram")?,
                destroy: *library.get(b"nvrtcDestroyProgram")?,
                ptx: (*library.get(b"nvrtcGetPTXSize")?, *library.get(b"nvrtcGetPTX")?),
                cubin: (*library.get(b"nvrtcGetCUBINSize")?, *library.get(b"nvrtcGetCUBIN")?),
                log: (*library.get(b"nvrtcGetProgramLogSize")?, *library.get(b"nvrtcGetProgramLog")?),
                nvrtc: Nvrtc {
                    version: (major, minor),
                    directory: directory.to_path_buf(),
                    include: include_directory(directory),
                },
                _libraries: libraries,
            })
        }
    }

    /// Compiles one source in this process: there is no way to stop it. See [`crate::compiler`]. A fault of the source
    /// is [`DoesNotCompile`]; any other error lies here.
    pub fn compile(&self, input: &CompileInput) -> anyhow::Result<Compiled> {
        let name = &input.name;
        let text_of = |text: &str, name: &str| {
            CString::new(text).map_err(|_| anyhow!(DoesNotCompile(format!("{name} is not text"))))
        };
        let strings = |of: &mut dyn Iterator<Item = &String>| -> anyhow::Result<Vec<CString>> {
            of.map(|text| Ok(CString::new(text.as_str())?)).collect()
        };
        let source = text_of(&input.source, name)?;
        let name_c = CString::new(name.as_str())?;
        let texts = input.headers.iter().map(|(name, text)| text_of(text, name));
        let texts = texts.collect::<anyhow::Result<Vec<_>>>()?;
        let names = strings(&mut input.headers.iter().map(|(name, _)| name))?;
        let options = strings(&mut input.options.iter())?;
        let pointers = |of: &[CString]| of.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (texts_p, names_p, options_p) = (pointers(&texts), pointers(&names), pointers(&options));
        let mut program = null_mut();
        // SAFETY: all strings are NUL-terminated and outlive the calls; sizes come from NVRTC itself.
        unsafe {
            let n = texts_p.len() as c_int;
            let created =
                (self.create)(&mut program, source.as_ptr(), name_c.as_ptr(), n, texts_p.as_ptr(), names_p.as_ptr());
            ensure!(created == 0, "NVRTC refuses to take {name}");
            let code = (self.compile)(program, options_p.len() as c_int, options_p.as_ptr());
            let log = text(program, self.log);
            let (ptx, cubin) = match code {
                0 => (text(program, self.ptx), bytes(program, self.cubin)),
                _ => Default::default(),
            };
            (self.destroy)(&mut program);
            if code != 0 {
                return Err(failure(code, name, &log));
            }
            Ok(Compiled { ptx, cubin, log })
        }
    }
}

/// Returns the error for a code of `nvrtcCompileProgram`.
fn failure(code: c_int, name: &str, log: &str) -> anyhow::Error {
    /// NVRTC_ERROR_OUT_OF_MEMORY: the process has a limit that no source of this course comes near.
    const OUT_OF_MEMORY: c_int = 1;
    /// NVRTC_ERROR_INVALID_OPTION: all options are ours, but for the architecture and those that a source names itself.
    const INVALID_OPTION: c_int = 5;
    const COMPILATION: c_int = 6;
    let what = match code {
        OUT_OF_MEMORY => "it takes more memory than the compiler has",
        _ => "",
    };
    let text = format!("{name} does not compile:\n{}", format!("{what}\n{log}").trim());
    match code {
        OUT_OF_MEMORY | INVALID_OPTION | COMPILATION => anyhow!(DoesNotCompile(text)),
        _ => {
            let words: Vec<&str> = log.split_whitespace().collect();
            let text = format!("NVRTC failed with error {code} on {name}: {}", words.join(" "));
            anyhow!(text.trim_end_matches([':', ' ']).to_owned())
        }
    }
}

/// # Safety
/// `program` is alive, and the two functions belong together.
unsafe fn text(program: Program, buffer: Buffer) -> String {
    // SAFETY: the caller's.
    let bytes = unsafe { bytes(program, buffer) };
    CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned()
}

/// # Safety
/// `program` is alive, and the two functions belong together.
unsafe fn bytes(program: Program, (size, get): Buffer) -> Vec<u8> {
    let mut n = 0;
    // SAFETY: as promised by the caller; the buffer has the size that NVRTC asked for.
    unsafe {
        if size(program, &mut n) != 0 || n == 0 {
            return Vec::new();
        }
        let mut buffer = vec![0u8; n];
        if get(program, buffer.as_mut_ptr().cast()) != 0 {
            return Vec::new();
        }
        buffer
    }
}

/// Returns the folder of the headers, beside the compiler: `nvidia/cuda_runtime/include` in a package, `include` in a
/// toolkit.
pub(crate) fn include_directory(nvrtc: &Path) -> Option<PathBuf> {
    let beside = ["../../cuda_runtime/include", "../include"].map(|p| nvrtc.join(p));
    let known = beside.into_iter().chain(["/usr/local/cuda/include".into()]);
    // NVRTC reads no path that begins with `\\?\`, as Windows resolves them.
    let resolved = |p: PathBuf| if cfg!(windows) { std::path::absolute(p) } else { p.canonicalize() };
    known.filter(|p| p.join("cuda_fp16.h").exists()).find_map(|p| resolved(p).ok())
}
