//! Images of modules: PTX and cubins, their errors, and the logs that report them.
//!
//! The emulated device runs PTX, and the machine code of its own architecture; of a fatbinary it takes the PTX, or else
//! the machine code. Link-time intermediate code (LTO-IR) is refused as an image.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ffi::{c_char, c_uint};
use std::sync::Arc;

use decode::DecodeError;
use program::limits::tree_bytes;
use sass::ReadErrorKind;
use simt::memory::Memory;
use simt::module::{LoadError, Module};

use crate::fatbin::{self, Selection};
use crate::ffi::{In, Out, can_read, read_process};
use crate::result::*;
use crate::{contexts::MEMORY, diagnose};
use crate::{settings, unsupported};

/// The architecture that the device reports, and whose machine code it runs.
const ARCHITECTURE: u32 = 90;
/// Bytes of memory for each byte of decoded machine code: an instruction has 16.
const DECODED: u64 = 32;

/// Reason for which an image is refused: the code, and a message.
pub(crate) type Refused = (CUresult, String);

#[derive(Debug, Clone)]
pub(crate) enum Image {
    Text(String),
    Cubin(Arc<sass::Module>),
}

impl Image {
    /// Reads an image from memory.
    ///
    /// # Safety
    /// A text ends with NUL, a cubin is as long as its header says, anything else has at least four bytes.
    pub(crate) unsafe fn read(image: In<u8>) -> Result<Self, Refused> {
        // Compared byte by byte: the image may be a text shorter than four bytes.
        // SAFETY: all bytes before this one were those of a binary's head, not NUL.
        let begins = |magic: &[u8]| (0..magic.len()).all(|i| unsafe { image.at(i) } == Ok(magic[i]));
        if begins(ELF) {
            // SAFETY: the image is as long as its ELF header says.
            let bytes = unsafe { elf(image) };
            return Self::cubin(&bytes.ok_or_else(|| damaged("it is cut off"))?);
        }
        let fat = match (begins(fatbin::HEAD), begins(fatbin::WRAPPER)) {
            (true, _) => Some(image),
            // SAFETY: the bytes so far are those of a wrapper, which is readable.
            (_, true) => unsafe { wrapped(image) },
            _ => None,
        };
        if let Some(image) = fat {
            // SAFETY: the bytes so far are those of a fatbinary, which is at least as long as its head.
            let head = unsafe { readable(image, fatbin::HEAD_BYTES) };
            let head = head.filter(|head| head.starts_with(fatbin::HEAD));
            let length = head.and_then(|head| fatbin::length(&head));
            // SAFETY: the fatbinary is as long as its head says.
            let bytes = length.and_then(|length| unsafe { readable(image, length) });
            return Self::of_bytes(&bytes.ok_or_else(cut_off)?);
        }
        if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| begins(magic)) {
            return Err(other(what));
        }
        // SAFETY: no binary, so a text that ends with NUL.
        let text = unsafe { image.text() };
        text.map(Self::Text).map_err(|code| (code, "no image".to_owned()))
    }

    pub(crate) fn read_file(path: &str) -> Result<Self, Refused> {
        let bytes = std::fs::read(path).map_err(|error| (ERROR_FILE_NOT_FOUND, format!("{path}: {error}")))?;
        Self::of_bytes(&bytes).map_err(|(code, message)| (code, format!("{path}: {message}")))
    }

    /// Reads an image from all of its bytes. A text ends at its first NUL, or at the end.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Self, Refused> {
        if !bytes.starts_with(fatbin::HEAD) {
            return Self::of_one(bytes);
        }
        let (code, message) = match fatbin::choose(bytes, ARCHITECTURE.into(), tree_bytes(MEMORY.limit())) {
            Selection::Image(image) => return Self::of_one(&image),
            Selection::Damaged => return Err(cut_off()),
            Selection::Others(others) => {
                let has = match others.join(", ") {
                    list if list.is_empty() => "is empty".to_owned(),
                    list => format!("has {list}"),
                };
                let message = format!(
                    "the fatbinary {has}, and the emulated GPU is sm_{ARCHITECTURE}: compile for it \
                     (nvcc -arch=sm_{ARCHITECTURE}), or add PTX, which runs on all"
                );
                (ERROR_NO_BINARY_FOR_GPU, message)
            }
            Selection::Compressed => (
                ERROR_INVALID_IMAGE,
                "the fatbinary is compressed by Zstandard, which the emulated GPU cannot read: compile with \
                 nvcc -no-compress"
                    .to_owned(),
            ),
        };
        Err((code, message))
    }

    /// Reads an image other than a fatbinary from all of its bytes.
    fn of_one(bytes: &[u8]) -> Result<Self, Refused> {
        if bytes.starts_with(ELF) {
            return Self::cubin(bytes);
        }
        if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Err(other(what));
        }
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        Ok(Self::Text(String::from_utf8_lossy(&bytes[..end]).into_owned()))
    }

    fn cubin(bytes: &[u8]) -> Result<Self, Refused> {
        let architecture = |sm: u32| {
            let message = format!(
                "the cubin is for sm_{sm}, and the emulated GPU is sm_{ARCHITECTURE}: machine code runs on its own \
                 architecture only. Compile for sm_{ARCHITECTURE} (nvcc -arch=sm_{ARCHITECTURE}), or load PTX, which runs on all"
            );
            (ERROR_NO_BINARY_FOR_GPU, message)
        };
        if bytes.len() as u64 > tree_bytes(MEMORY.limit()) / DECODED {
            return Err((ERROR_OUT_OF_MEMORY, "the cubin is too large".to_owned()));
        }
        if let Ok(sm) = sass::sm_of(bytes)
            && sm != ARCHITECTURE
        {
            return Err(architecture(sm));
        }
        match sass::Module::read(bytes) {
            Ok(module) => Ok(Self::Cubin(Arc::new(module))),
            Err(error) => Err(match error.kind {
                ReadErrorKind::Architecture(sm) => architecture(sm),
                ReadErrorKind::Damaged(_) | ReadErrorKind::Label { .. } => damaged(&error.to_string()),
                ReadErrorKind::Decode(_) | ReadErrorKind::Relocation { .. } => {
                    (ERROR_INVALID_IMAGE, format!("{UNSUPPORTED_CODE}{error}"))
                }
            }),
        }
    }

    /// Returns the text, where only a text can be used.
    pub(crate) fn into_text(self) -> Result<String, Refused> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Cubin(_) => Err((ERROR_INVALID_IMAGE, "the image is a cubin; the linker takes PTX only".to_owned())),
        }
    }

    /// Loads the image into a memory. An error has a message.
    pub(crate) fn load(&self, memory: &Arc<Memory>) -> Result<Module, Refused> {
        match self {
            Self::Text(text) => compile(memory, text),
            Self::Cubin(code) => Module::load_machine_code(memory, code, None).map_err(refused),
        }
    }
}

const ELF: &[u8] = b"\x7fELF";
/// The heads of images that do not run here.
const OTHERS: [(&[u8], &str); 1] = [(b"\xed\x43\x4e\x7f", "LTO-IR")];
const UNSUPPORTED_PTX: &str = "the PTX uses what the emulated GPU does not support:\n";
const UNSUPPORTED_CODE: &str = "the machine code uses what the emulated GPU does not support:\n";

fn other(what: &str) -> Refused {
    let message = format!("the image is {what}; the emulated GPU runs PTX and cubins for sm_{ARCHITECTURE}");
    (ERROR_INVALID_IMAGE, message)
}

fn cut_off() -> Refused {
    (ERROR_INVALID_IMAGE, "the fatbinary is damaged".to_owned())
}

/// Returns the fatbinary that a wrapper points to.
///
/// # Safety
/// The wrapper is readable, and its address leads to a fatbinary; or the system reports which memory is mapped.
unsafe fn wrapped(image: In<u8>) -> Option<In<u8>> {
    // SAFETY: the wrapper is readable, as this function requires.
    let head = unsafe { readable(image, 16) }?;
    let address = usize::from_le_bytes(head.get(8..16)?.try_into().ok()?);
    // SAFETY: it is read only where the caller promises something, or the system says that it is there.
    Some(unsafe { In::new(std::ptr::with_exposed_provenance(address)) })
}

fn damaged(why: &str) -> Refused {
    (ERROR_INVALID_IMAGE, format!("the cubin is damaged: {why}"))
}

/// Reads an ELF image, whose head and tables give its length, `None` if they lead to memory that is unmapped or far.
///
/// # Safety
/// The image is as long as its head and tables say, or the system reports which memory is mapped (on Linux).
unsafe fn elf(image: In<u8>) -> Option<Vec<u8>> {
    const HEAD: u64 = 64;
    const SECTION: u64 = 64;
    /// A section without contents in the file.
    const NOBITS: u64 = 8;
    // SAFETY: only lengths that the head and tables give are read, and the image is that long.
    let read = |bytes: u64| unsafe { readable(image, bytes) };
    let number = |bytes: &[u8], at: u64, size| fatbin::number(bytes, usize::try_from(at).ok()?, size);
    let head = read(HEAD)?;
    let table = |start, size, n| {
        let (start, size, n) = (number(&head, start, 8)?, number(&head, size, 2)?, number(&head, n, 2)?);
        Some((start, start.checked_add(size * n)?, n))
    };
    let (_, segments_end, _) = table(32, 54, 56)?;
    let (sections, sections_end, n) = table(40, 58, 60)?;
    let mut end = HEAD.max(segments_end).max(sections_end);
    let tables = read(sections_end)?;
    for section in (0..n).map(|i| sections + i * SECTION) {
        if number(&tables, section + 4, 4)? != NOBITS {
            let (start, bytes) = (number(&tables, section + 24, 8)?, number(&tables, section + 32, 8)?);
            end = end.max(start.checked_add(bytes)?);
        }
    }
    read(end)
}

/// Reads the first bytes of an image; `None` if they are not mapped.
///
/// # Safety
/// The bytes are mapped, or the system reports which memory is mapped.
unsafe fn readable(image: In<u8>, bytes: u64) -> Option<Vec<u8>> {
    let n = usize::try_from(bytes).ok()?;
    if !can_read(image.address() as u64, n) {
        return None;
    }
    let mut copy = vec![0; n];
    match read_process(&[(image.address() as u64, n)], &mut [copy.as_mut_slice()]) {
        Some(true) => Some(copy),
        Some(false) => None,
        // SAFETY: `n` bytes are readable, as this function requires where the system cannot tell.
        None => unsafe { image.list(n) }.ok(),
    }
}

/// Checks that a text is PTX of a version and for an architecture that can run here.
pub(crate) fn check_head(text: &str) -> Result<(), Refused> {
    if let Some(version) = directive(text, ".version")
        && let Some(major) = version.split('.').next().and_then(|v| v.parse::<u32>().ok())
        && major > 9
    {
        let message = format!("PTX {version} is newer than what the emulated GPU knows");
        return Err((ERROR_UNSUPPORTED_PTX_VERSION, message));
    }
    if !text.contains(".version") {
        return Err((ERROR_INVALID_IMAGE, "the image is no PTX: it has no `.version`".to_owned()));
    }
    if let Some(target) = architecture(text)
        && target > 90
    {
        let message = format!("the PTX is for sm_{target} and newer; the emulated GPU is sm_90");
        return Err((ERROR_INVALID_PTX, message));
    }
    Ok(())
}

/// Compiles PTX for a memory. An error has a message.
pub(crate) fn compile(memory: &Arc<Memory>, text: &str) -> Result<Module, Refused> {
    check_head(text)?;
    Module::load(memory, text, None).map_err(|error| match error {
        LoadError::Decode(DecodeError::Unsupported(list)) => {
            (ERROR_INVALID_PTX, format!("{UNSUPPORTED_PTX}{}", unsupported::message(text, &list)))
        }
        other => refused(other),
    })
}

fn refused(error: LoadError) -> Refused {
    let (code, what) = match &error {
        LoadError::Memory(..) | LoadError::Decode(DecodeError::TooLarge(_)) => (ERROR_OUT_OF_MEMORY, ""),
        LoadError::SharedMemory { .. } => (ERROR_INVALID_PTX, ""),
        LoadError::Decode(DecodeError::Internal(_)) => (ERROR_UNKNOWN, ""),
        LoadError::Decode(DecodeError::Invalid(_)) => (ERROR_INVALID_PTX, "the PTX cannot be read: "),
        LoadError::Decode(DecodeError::Unsupported(_)) => (ERROR_INVALID_PTX, UNSUPPORTED_PTX),
        LoadError::Decode(DecodeError::Refused(_)) => (ERROR_INVALID_IMAGE, UNSUPPORTED_CODE),
    };
    (code, format!("{what}{error}"))
}

/// Returns the word after a directive on a line of its own.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find_map(|l| l.strip_prefix(name).filter(|rest| rest.starts_with(char::is_whitespace)))?;
    line.split([',', ' ', '\t']).find(|word| !word.is_empty())
}

/// Parses a target: `.target sm_90a, debug` is 90.
pub(crate) fn architecture(text: &str) -> Option<u32> {
    let target = directive(text, ".target")?.strip_prefix("sm_")?;
    target.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Returns the registers by kernel, from the head that `cargo xtask ptx` writes: `// sm_90: saxpy: 10 registers, …`.
pub(crate) fn registers(text: &str) -> HashMap<&str, u32> {
    let head = text.lines().take_while(|l| l.starts_with("//"));
    let mut known = HashMap::new();
    for line in head {
        let line = line.strip_prefix("// sm_90").map(|l| l.trim_start_matches('a'));
        let Some((name, rest)) = line.and_then(|l| l.strip_prefix(": ")?.split_once(": ")) else { continue };
        let number = rest.split(", ").find_map(|part| part.strip_suffix(" registers")?.parse().ok());
        if let Some(number) = number {
            known.entry(name).or_insert(number);
        }
    }
    known
}

/// The log buffers and the limit of registers among JIT options. The other options do not change results here.
#[derive(Default)]
pub(crate) struct Log {
    info: Buffer,
    error: Buffer,
    /// Value of `CU_JIT_MAX_REGISTERS`, if it is given.
    pub(crate) max_registers: Option<u32>,
}

#[derive(Default)]
struct Buffer {
    text: Option<Out<c_char>>,
    size: usize,
    /// Location of the number of bytes written: the option's own value.
    written: Option<(Out<usize>, usize)>,
}

impl Buffer {
    fn finish(&self, text: &str) -> Outcome {
        let mut n = 0;
        if let Some(buffer) = self.place() {
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

    /// Returns the buffer for a text, if it holds at least one byte.
    fn place(&self) -> Option<Out<c_char>> {
        self.text.filter(|buffer| !buffer.is_null() && self.size > 0)
    }
}

impl Log {
    /// # Safety
    /// Both lists have `n` elements, and the buffers among the values are as large as the values say.
    pub(crate) unsafe fn new(n: c_uint, options: In<c_uint>, values: Out<usize>) -> Outcome<Self> {
        // SAFETY: there are `n` options, as this function requires.
        let options = unsafe { options.list(n as usize) }?;
        if n > 0 {
            values.check()?;
        }
        // SAFETY: there are as many values as options, as this function requires.
        let given = unsafe { values.list(options.len()) }?;
        let mut log = Self::default();
        for (index, (option, value)) in options.into_iter().zip(given).enumerate() {
            let buffer = if option < 5 { &mut log.info } else { &mut log.error };
            match option {
                0 => log.max_registers = Some(value as u32).filter(|n| *n > 0),
                // SAFETY: a buffer, as the option says.
                3 | 5 => buffer.text = Some(unsafe { Out::at(value as *mut c_char) }),
                4 | 6 => {
                    // The value is a 32-bit size; its upper bits are undefined.
                    buffer.size = value as u32 as usize;
                    buffer.written = Some((values, index));
                }
                1..=33 => {}
                _ => return Err(ERROR_INVALID_VALUE),
            }
        }
        Ok(log)
    }

    /// Writes the text of the error log. Nothing is ever written to the other one.
    pub(crate) fn finish(&self, error: &str) -> Outcome {
        self.info.finish("")?;
        self.error.finish(error)
    }

    /// Reports why an image is refused, to the program's log or else to standard error, and fails with its code.
    pub(crate) fn refuse<T>(&self, (code, message): Refused) -> Outcome<T> {
        if self.error.place().is_none() && settings::current().diagnosis {
            diagnose::print_once(&message);
        }
        self.finish(&message)?;
        Err(code)
    }
}
