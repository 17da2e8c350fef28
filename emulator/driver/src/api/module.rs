//! Modules: PTX text in, kernels and variables out.
//!
//! The JIT of the emulated device reads PTX only. Binaries for real GPUs (cubin, and fatbins that hold them) cannot
//! run here and are refused as images.

use std::ffi::{CString, c_char, c_uint, c_void};
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::sync::{Arc, OnceLock};

use simt::memory::Memory;
use simt::module::{LoadError, LoadedKernel, Module};
use simt::program::OpKind;

use crate::diagnose;
use crate::edge::{In, Out, Text, export};
use crate::handle::{Kind, Table};
use crate::result::*;
use crate::settings;
use crate::state::{CONTEXTS, Context, MEMORY, initialised, usable};
use crate::types::Handle;

/// A loaded module.
pub(crate) struct Loaded {
    context_id: u64,
    context: Handle,
    pub(crate) module: Module,
    /// One per kernel, in the order of the text.
    pub(crate) functions: OnceLock<Vec<Handle>>,
}

/// A kernel of a module.
pub(crate) struct Function {
    pub(crate) module: Handle,
    pub(crate) context_id: u64,
    pub(crate) loaded: Arc<LoadedKernel>,
    pub(crate) name: CString,
    pub(crate) about: About,
    /// Sources that were found for its messages.
    pub(crate) sources: Arc<[(String, Arc<str>)]>,
    pub(crate) has_textures: bool,
    pub(crate) max_dynamic_shared: AtomicI32,
    pub(crate) carveout: AtomicI32,
    pub(crate) cache_config: AtomicU32,
}

/// What the text says about a kernel besides its code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct About {
    /// Registers that ptxas gave it for this architecture, from the comments at the head of the file.
    pub(crate) registers: Option<u32>,
    /// `.target sm_75` is 75.
    pub(crate) target: u32,
    /// Bytes of constant variables of the module.
    pub(crate) constant_bytes: u32,
}

pub(crate) static MODULES: Table<Loaded> = Table::new(Kind::Module);
pub(crate) static FUNCTIONS: Table<Function> = Table::new(Kind::Function);

/// A module by its handle.
pub(crate) fn module(handle: Handle) -> Result<Arc<Loaded>, CUresult> {
    initialised()?;
    MODULES.get(handle).ok_or(ERROR_INVALID_HANDLE)
}

/// A function by its handle; a library's kernel stands for its function in the current context.
pub(crate) fn function(handle: Handle) -> Result<Arc<Function>, CUresult> {
    initialised()?;
    if let Some(function) = FUNCTIONS.get(handle) {
        return Ok(function);
    }
    let resolved = super::library::function_of(handle)?;
    FUNCTIONS.get(resolved).ok_or(ERROR_INVALID_HANDLE)
}

pub(crate) fn forget_context(id: u64) {
    for handle in MODULES.handles_where(|m| m.context_id == id) {
        unload(handle);
    }
    super::library::forget_context(id);
}

fn unload(handle: Handle) -> Option<Arc<Loaded>> {
    let gone = MODULES.remove(handle)?;
    for function in gone.functions.get().into_iter().flatten() {
        FUNCTIONS.remove(*function);
    }
    Some(gone)
}

/// Waits for work that may still use a module, and forgets it.
pub(crate) fn unload_after_work(handle: Handle) -> Outcome {
    let loaded = module(handle)?;
    if let Some(context) = CONTEXTS.get(loaded.context) {
        context.queue.drain()?;
        context.flush_printed();
    }
    unload(handle).map(|_| ()).ok_or(ERROR_INVALID_HANDLE)
}

/// Text of an image, or why it is none.
pub(crate) fn image_text(image: In<u8>) -> Result<String, (CUresult, String)> {
    const MAGICS: [(&[u8], &str); 3] = [
        (b"\x7fELF", "a cubin"),
        (b"\x50\xed\x55\xba", "a fatbin"),
        (b"\xb1\x43\x62\x46", "a fatbin"),
    ];
    for (magic, what) in MAGICS {
        // Compared byte by byte: the image may be a text shorter than four bytes.
        let same = |i: usize| image.list(i + 1).is_ok_and(|bytes| bytes[i] == magic[i]);
        if (0..magic.len()).all(same) {
            let message = format!("the image is {what}, made for a real GPU; the emulated one runs PTX only");
            return Err((ERROR_INVALID_IMAGE, message));
        }
    }
    image.text().map_err(|code| (code, "no image".to_owned()))
}

/// Compiles PTX for a memory. The message says what is wrong.
pub(crate) fn compile(memory: &Arc<Memory>, text: &str) -> Result<Module, (CUresult, String)> {
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
    Module::load(memory, text, None).map_err(|error| {
        let code = match &error {
            LoadError::Memory(..) => ERROR_OUT_OF_MEMORY,
            LoadError::Internal(_) => ERROR_UNKNOWN,
            LoadError::Parse(_) | LoadError::Unsupported(_) => ERROR_INVALID_PTX,
        };
        let what = match &error {
            LoadError::Parse(_) => "the PTX cannot be read: ",
            LoadError::Unsupported(_) => "the PTX uses what the emulated GPU does not support:\n",
            LoadError::Internal(_) | LoadError::Memory(..) => "",
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
fn architecture(text: &str) -> Option<u32> {
    let target = directive(text, ".target")?.strip_prefix("sm_")?;
    target
        .trim_end_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()
}

/// Reads what `cargo xtask ptx` writes at the head: `// sm_90: saxpy: 10 registers, …`.
fn registers(text: &str, kernel: &str) -> Option<u32> {
    let head = text.lines().take_while(|l| l.starts_with("//"));
    let mut mine = head.filter_map(|line| {
        let line = line
            .strip_prefix("// sm_90")?
            .trim_start_matches('a')
            .strip_prefix(": ")?;
        let (name, rest) = line.split_once(": ")?;
        (name == kernel).then_some(rest)
    });
    mine.find_map(|rest| {
        rest.split(", ")
            .find_map(|part| part.strip_suffix(" registers")?.parse().ok())
    })
}

/// Puts a compiled module into a context.
pub(crate) fn enter(context: &Context, module: Module, text: &str) -> Handle {
    let constant_bytes = module
        .variables()
        .iter()
        .filter(|v| v.constant)
        .map(|v| v.bytes)
        .sum::<u64>();
    let kernels = module.kernels().to_vec();
    let files = kernels.first().map(|k| Arc::clone(&k.files));
    let sources: Arc<[(String, Arc<str>)]> = files
        .iter()
        .flat_map(|files| files.iter())
        .filter_map(|(_, path)| Some((path.clone(), settings::find_source(path)?)))
        .collect();
    let (handle, loaded) = MODULES.insert_with(|_| Loaded {
        context_id: context.id,
        context: context.handle,
        module,
        functions: OnceLock::new(),
    });
    let make = |kernel: &Arc<LoadedKernel>| {
        let name = kernel.kernel.name.as_str();
        let function = Function {
            module: handle,
            context_id: context.id,
            loaded: Arc::clone(kernel),
            name: CString::new(name).unwrap_or_default(),
            about: About {
                registers: registers(text, name),
                target: architecture(text).unwrap_or(0),
                constant_bytes: u32::try_from(constant_bytes).unwrap_or(u32::MAX),
            },
            sources: Arc::clone(&sources),
            has_textures: kernel
                .kernel
                .ops
                .iter()
                .any(|op| matches!(op.kind, OpKind::Texture(_))),
            max_dynamic_shared: AtomicI32::new(super::function::default_dynamic_shared(&kernel.kernel)),
            carveout: AtomicI32::new(-1),
            cache_config: AtomicU32::new(0),
        };
        FUNCTIONS.insert_with(|_| function).0
    };
    let functions = kernels.iter().map(make).collect();
    // Just made, so empty.
    let _ = loaded.functions.set(functions);
    handle
}

/// Compiles into the current context; what is wrong goes to the log, or where there is none, to stderr.
fn load(out: Out<Handle>, text: Result<String, (CUresult, String)>, log: &Log) -> Outcome {
    let context = usable()?;
    let compiled = text.and_then(|text| compile(&MEMORY, &text).map(|module| (module, text)));
    match compiled {
        Ok((module, text)) => {
            log.finish("", "")?;
            out.put(enter(&context, module, &text))
        }
        Err((code, message)) => {
            log.report(&message)?;
            Err(code)
        }
    }
}

/// The log buffers among JIT options. The others ask for things that do not change results here.
#[derive(Default)]
pub(crate) struct Log {
    info: Buffer,
    error: Buffer,
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
            buffer.put_text(text, self.size)?;
            n = text.len().min(self.size - 1);
        }
        match self.written {
            Some((values, index)) => values.put_at(index, if n == 0 { 0 } else { n + 1 }),
            None => Ok(()),
        }
    }

    fn is_there(&self) -> bool {
        self.text.is_some_and(|b| !b.is_null()) && self.size > 0
    }
}

impl Log {
    pub(crate) fn new(n: c_uint, options: In<c_uint>, values: Out<usize>) -> Result<Self, CUresult> {
        let options = options.list(n as usize)?;
        if n > 0 {
            values.check()?;
        }
        let given = values.list_or_empty(options.len())?;
        let mut log = Self::default();
        for (index, (option, value)) in options.into_iter().zip(given).enumerate() {
            match option {
                3 => log.info.text = Some(Out::at(value as *mut c_char)),
                4 => {
                    // The value is a 32-bit size, whatever stands above it.
                    log.info.size = value as u32 as usize;
                    log.info.written = Some((values, index));
                }
                5 => log.error.text = Some(Out::at(value as *mut c_char)),
                6 => {
                    log.error.size = value as u32 as usize;
                    log.error.written = Some((values, index));
                }
                0..=33 => {}
                _ => return Err(ERROR_INVALID_VALUE),
            }
        }
        Ok(log)
    }

    fn finish(&self, info: &str, error: &str) -> Outcome {
        self.info.finish(info)?;
        self.error.finish(error)
    }

    /// A message for whoever reads the log, or for everybody.
    pub(crate) fn report(&self, message: &str) -> Outcome {
        if !self.error.is_there() && settings::current().diagnosis {
            diagnose::say_once(message);
        }
        self.finish("", message)
    }
}

export! {
    fn cuModuleLoad(out: Out<Handle>, path: Text) {
        initialised()?;
        out.check()?;
        let path = path.get()?;
        usable()?;
        load(out, read_file(&path), &Log::default())
    }

    fn cuModuleLoadData(out: Out<Handle>, image: In<u8>) {
        initialised()?;
        out.check()?;
        usable()?;
        load(out, image_text(image), &Log::default())
    }

    fn cuModuleLoadDataEx(
        out: Out<Handle>,
        image: In<u8>,
        n: c_uint,
        options: In<c_uint>,
        values: Out<usize>,
    ) {
        initialised()?;
        out.check()?;
        usable()?;
        let log = Log::new(n, options, values)?;
        load(out, image_text(image), &log)
    }

    fn cuModuleLoadFatBinary(out: Out<Handle>, image: In<u8>) {
        initialised()?;
        out.check()?;
        usable()?;
        load(out, image_text(image), &Log::default())
    }

    fn cuModuleUnload(handle: Handle) {
        usable()?;
        unload_after_work(handle)
    }

    fn cuModuleGetLoadingMode(mode: Out<c_uint>) {
        initialised()?;
        // CU_MODULE_EAGER_LOADING
        mode.put(1)
    }

    fn cuModuleGetFunction(out: Out<Handle>, handle: Handle, name: Text) {
        usable()?;
        out.check()?;
        let name = name.get()?;
        if name.is_empty() {
            return Err(ERROR_INVALID_VALUE);
        }
        let loaded = module(handle)?;
        out.put(function_named(&loaded, &name).ok_or(ERROR_NOT_FOUND)?)
    }

    fn cuModuleGetFunctionCount(count: Out<c_uint>, handle: Handle) {
        initialised()?;
        count.check()?;
        count.put(module(handle)?.module.kernels().len() as c_uint)
    }

    fn cuModuleEnumerateFunctions(functions: Out<Handle>, n: c_uint, handle: Handle) {
        initialised()?;
        functions.check()?;
        let loaded = module(handle)?;
        let all = loaded.functions.get().into_iter().flatten();
        all.take(n as usize).enumerate().try_for_each(|(i, f)| functions.put_at(i, *f))
    }

    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, handle: Handle, name: Text) {
        usable()?;
        let name = name.get()?;
        let loaded = module(handle)?;
        variable(&loaded, &name, address, bytes)
    }

    fn cuModuleGetTexRef(_out: Out<c_void>, handle: Handle, _name: Text) {
        module(handle)?;
        Err(ERROR_NOT_FOUND)
    }

    fn cuModuleGetSurfRef(_out: Out<c_void>, handle: Handle, _name: Text) {
        module(handle)?;
        Err(ERROR_NOT_FOUND)
    }
}

/// A kernel's function.
pub(crate) fn function_named(loaded: &Loaded, name: &str) -> Option<Handle> {
    let at = loaded
        .module
        .kernels()
        .iter()
        .position(|k| k.kernel.name == name)?;
    loaded.functions.get()?.get(at).copied()
}

/// A variable's address and size.
pub(crate) fn variable(loaded: &Loaded, name: &str, address: Out<u64>, bytes: Out<usize>) -> Outcome {
    let found = loaded.module.variable(name).ok_or(ERROR_NOT_FOUND)?;
    address.put_if_wanted(found.address);
    bytes.put_if_wanted(found.bytes as usize);
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "// sm_75: saxpy: 9 registers, 0 bytes smem\n// sm_90: saxpy: 10 registers, 0 bytes smem\n\
                        // sm_90: other: 255 registers, 0 bytes smem\n.version 8.4\n.target sm_90a, debug\n";

    #[test]
    fn registers_come_from_the_head() {
        assert_eq!(registers(HEAD, "saxpy"), Some(10));
        assert_eq!(registers(HEAD, "other"), Some(255));
        assert_eq!(registers(HEAD, "sax"), None);
    }

    #[test]
    fn directives_are_found() {
        assert_eq!(directive(HEAD, ".version"), Some("8.4"));
        assert_eq!(architecture(HEAD), Some(90));
        assert_eq!(directive(HEAD, ".address_size"), None);
    }
}
