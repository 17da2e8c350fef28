//! Images of modules: which are PTX, what is wrong with one, and the logs that report it.
//!
//! The JIT of the emulated device reads PTX only. Binaries for real GPUs (cubin, and fatbins that hold them) and what
//! the compilers of real GPUs link (LTO-IR) cannot run here and are refused as images.

use std::collections::HashMap;
use std::ffi::{c_char, c_uint};
use std::sync::Arc;

use simt::memory::Memory;
use simt::module::{LoadError, Module};

use crate::diagnose;
use crate::edge::{In, Out};
use crate::result::*;
use crate::settings;

/// Text of an image, or why it is none.
///
/// # Safety
/// A text ends with NUL, anything else has at least four bytes.
pub(crate) unsafe fn image_text(image: In<u8>) -> Result<String, (CUresult, String)> {
    const MAGICS: [(&[u8], &str); 4] = [
        (b"\x7fELF", "a cubin"),
        (b"\x50\xed\x55\xba", "a fatbin"),
        (b"\xb1\x43\x62\x46", "a fatbin"),
        (b"\xed\x43\x4e\x7f", "LTO-IR"),
    ];
    for (magic, what) in MAGICS {
        // Compared byte by byte: the image may be a text shorter than four bytes.
        // SAFETY: all bytes before this one were those of a binary's head, not NUL.
        let same = |i: usize| unsafe { image.at(i) }.is_ok_and(|byte| byte == magic[i]);
        if (0..magic.len()).all(same) {
            let message = format!("the image is {what}, made for a real GPU; the emulated one runs PTX only");
            return Err((ERROR_INVALID_IMAGE, message));
        }
    }
    // SAFETY: no binary, so a text that ends with NUL.
    unsafe { image.text() }.map_err(|code| (code, "no image".to_owned()))
}

/// Whether a text is PTX of a version and for an architecture that can run here.
pub(crate) fn check_head(text: &str) -> Result<(), (CUresult, String)> {
    if let Some(version) = directive(text, ".version")
        && let Some(major) = version.split('.').next().and_then(|v| v.parse::<u32>().ok())
        && major > 9
    {
        let message = format!("PTX {version} is newer than what the emulated GPU knows");
        return Err((ERROR_UNSUPPORTED_PTX_VERSION, message));
    }
    if !text.contains(".version") {
        return Err((
            ERROR_INVALID_IMAGE,
            "the image is no PTX: it has no `.version`".to_owned(),
        ));
    }
    if let Some(target) = architecture(text)
        && target > 90
    {
        let message = format!("the PTX is for sm_{target} and newer; the emulated GPU is sm_90");
        return Err((ERROR_INVALID_PTX, message));
    }
    Ok(())
}

/// Compiles PTX for a memory. The message says what is wrong.
pub(crate) fn compile(memory: &Arc<Memory>, text: &str) -> Result<Module, (CUresult, String)> {
    check_head(text)?;
    Module::load(memory, text, None).map_err(|error| {
        let code = match &error {
            LoadError::Memory(..) | LoadError::TooLarge(_) => ERROR_OUT_OF_MEMORY,
            LoadError::Internal(_) => ERROR_UNKNOWN,
            LoadError::MachineCode(_) => ERROR_INVALID_IMAGE,
            LoadError::Parse(_) | LoadError::Unsupported(_) | LoadError::SharedMemory { .. } => {
                ERROR_INVALID_PTX
            }
        };
        let what = match &error {
            LoadError::Parse(_) => "the PTX cannot be read: ",
            LoadError::Unsupported(_) => "the PTX uses what the emulated GPU does not support:\n",
            LoadError::MachineCode(_) => "the machine code uses what the emulated GPU does not support:\n",
            LoadError::Internal(_)
            | LoadError::Memory(..)
            | LoadError::TooLarge(_)
            | LoadError::SharedMemory { .. } => "",
        };
        (code, format!("{what}{error}"))
    })
}

/// The word after a directive on a line of its own.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find_map(|l| {
        l.strip_prefix(name)
            .filter(|rest| rest.starts_with(char::is_whitespace))
    })?;
    line.split([',', ' ', '\t']).find(|word| !word.is_empty())
}

/// `.target sm_90a, debug` is 90.
pub(crate) fn architecture(text: &str) -> Option<u32> {
    let target = directive(text, ".target")?.strip_prefix("sm_")?;
    target
        .trim_end_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()
}

/// Reads what `cargo xtask ptx` writes at the head: `// sm_90: saxpy: 10 registers, …`.
/// By kernel.
pub(crate) fn registers(text: &str) -> HashMap<&str, u32> {
    let head = text.lines().take_while(|l| l.starts_with("//"));
    let mut known = HashMap::new();
    for line in head {
        let line = line.strip_prefix("// sm_90").map(|l| l.trim_start_matches('a'));
        let Some((name, rest)) = line.and_then(|l| l.strip_prefix(": ")?.split_once(": ")) else {
            continue;
        };
        let number = rest
            .split(", ")
            .find_map(|part| part.strip_suffix(" registers")?.parse().ok());
        if let Some(number) = number {
            known.entry(name).or_insert(number);
        }
    }
    known
}

/// The text of a PTX file.
pub(crate) fn read_file(path: &str) -> Result<String, (CUresult, String)> {
    let bytes = std::fs::read(path).map_err(|error| (ERROR_FILE_NOT_FOUND, format!("{path}: {error}")))?;
    // As an image in memory, it ends at the first NUL.
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    let binary = bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"\x50\xed\x55\xba");
    if binary {
        let message = format!("{path} was made for a real GPU; the emulated one runs PTX only");
        return Err((ERROR_INVALID_IMAGE, message));
    }
    Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

/// The log buffers and the limit of registers among JIT options. The others ask for things that do not change results
/// here.
#[derive(Default)]
pub(crate) struct Log {
    info: Buffer,
    error: Buffer,
    /// `CU_JIT_MAX_REGISTERS`
    pub(crate) max_registers: Option<u32>,
}

#[derive(Default)]
struct Buffer {
    text: Option<Out<c_char>>,
    size: usize,
    /// Where the number of bytes written goes: the option's own value.
    written: Option<(Out<usize>, usize)>,
}

impl Buffer {
    fn finish(&self, text: &str) -> Outcome {
        let mut n = 0;
        if let Some(buffer) = self.text.filter(|b| !b.is_null())
            && self.size > 0
        {
            // SAFETY: the size that the options name with the buffer.
            unsafe { buffer.put_text(text, self.size) }?;
            n = text.len().min(self.size - 1);
        }
        match self.written {
            // SAFETY: the index of one of the options, of which there are as many as values.
            Some((values, index)) => unsafe { values.put_at(index, if n == 0 { 0 } else { n + 1 }) },
            None => Ok(()),
        }
    }

    fn is_there(&self) -> bool {
        self.text.is_some_and(|b| !b.is_null()) && self.size > 0
    }
}

impl Log {
    /// # Safety
    /// There are `n` options and `n` values, and the buffers among them are as large as the values say.
    pub(crate) unsafe fn new(n: c_uint, options: In<c_uint>, values: Out<usize>) -> Result<Self, CUresult> {
        // SAFETY: the caller's promise.
        let options = unsafe { options.list(n as usize) }?;
        if n > 0 {
            values.check()?;
        }
        // SAFETY: the caller's promise.
        let given = unsafe { values.list(options.len()) }?;
        let mut log = Self::default();
        for (index, (option, value)) in options.into_iter().zip(given).enumerate() {
            match option {
                0 => log.max_registers = Some(value as u32).filter(|n| *n > 0),
                3 => {
                    // SAFETY: a buffer, as the option says.
                    log.info.text = Some(unsafe { Out::at(value as *mut c_char) });
                }
                4 => {
                    // The value is a 32-bit size, whatever stands above it.
                    log.info.size = value as u32 as usize;
                    log.info.written = Some((values, index));
                }
                5 => {
                    // SAFETY: as above.
                    log.error.text = Some(unsafe { Out::at(value as *mut c_char) });
                }
                6 => {
                    log.error.size = value as u32 as usize;
                    log.error.written = Some((values, index));
                }
                1..=33 => {}
                _ => return Err(ERROR_INVALID_VALUE),
            }
        }
        Ok(log)
    }

    pub(crate) fn finish(&self, info: &str, error: &str) -> Outcome {
        self.info.finish(info)?;
        self.error.finish(error)
    }

    /// Writes a message to the log that the program passed, or to standard error without one.
    pub(crate) fn report(&self, message: &str) -> Outcome {
        if !self.error.is_there() && settings::current().diagnosis {
            diagnose::say_once(message);
        }
        self.finish("", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "// sm_75: saxpy: 9 registers, 0 bytes smem\n// sm_90: saxpy: 10 registers, 0 bytes smem\n\
                        // sm_90: other: 255 registers, 0 bytes smem\n.version 8.4\n.target sm_90a, debug\n";

    #[test]
    fn registers_come_from_the_head() {
        let known = registers(HEAD);
        assert_eq!(known.get("saxpy"), Some(&10));
        assert_eq!(known.get("other"), Some(&255));
        assert_eq!(known.get("sax"), None);
    }

    #[test]
    fn directives_are_found() {
        assert_eq!(directive(HEAD, ".version"), Some("8.4"));
        assert_eq!(architecture(HEAD), Some(90));
        assert_eq!(directive(HEAD, ".address_size"), None);
    }
}
