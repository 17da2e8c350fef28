//! The JIT linker, for PTX: texts in, one text out, as the "cubin" that `cuModuleLoadData` takes.
//!
//! A single input is returned unchanged. Several become one module, in which external functions and variables are
//! resolved. Of CUDA's device runtime library, the functions that grids need to synchronise exist as PTX of our own;
//! other libraries and machine code are made for real GPUs and refused.

use std::ffi::{CString, c_uint, c_void};
use std::sync::{Arc, Mutex};

use ptx::ast::{FunctionKind, Item};
use ptx::link::{Input, LinkError, Prototypes};
use simt::memory::Memory;

use crate::api::ready_for;
use crate::contexts::{MEMORY, usable};
use crate::ffi::{In, Out, Text, export};
use crate::handle::{ObjectKind, Table};
use crate::image::{Image, Log, Refused, check_head, compile};
use crate::result::*;
use crate::{cuda_constants::input, diagnose};
use crate::{sync::lock, types::Handle};

struct Link {
    /// Options given at its creation: their buffers receive the errors.
    log: Log,
    inputs: Mutex<Inputs>,
    image: Mutex<Option<CString>>,
}

struct Inputs {
    texts: Vec<String>,
    /// Parsed inputs; empty once they are linked.
    modules: Vec<Input>,
    prototypes: Prototypes,
    /// Reason for which the linked module does not compile.
    failed: Option<Refused>,
    /// Bytes left for more modules.
    left: u64,
}

static LINKS: Table<Link> = Table::new(ObjectKind::Link);

/// Limit on all inputs together, which bounds the driver's memory.
const MAX_BYTES: usize = 256 << 20;

/// The implemented part of `libcudadevrt.a`.
const DEVICE_RUNTIME: &str = include_str!("../device_runtime.ptx");

fn is_device_runtime(name: &str) -> bool {
    name.rsplit('/').next() == Some("libcudadevrt.a")
}

/// Returns the message of a link error, as it goes into the log.
fn linker_error(error: &LinkError) -> Refused {
    (ERROR_INVALID_SOURCE, format!("error   : {error}"))
}

fn add(handle: Handle, kind: c_uint, name: String, text: Result<String, Refused>) -> Outcome {
    let link = LINKS.find(handle)?;
    if kind != input::PTX {
        diagnose::print_once("cuLink takes PTX only: other inputs are made for real GPUs");
        return Err(if kind <= 6 { ERROR_NOT_SUPPORTED } else { ERROR_INVALID_VALUE });
    }
    let checked = text.and_then(|text| {
        check_head(&text)?;
        Ok(text)
    });
    let mut inputs = lock(&link.inputs);
    checked.and_then(|text| inputs.add(name, text)).or_else(|why| link.log.refuse(why))
}

impl Inputs {
    fn new() -> Self {
        Self {
            texts: Vec::new(),
            modules: Vec::new(),
            prototypes: Prototypes::default(),
            failed: None,
            left: program::limits::tree_bytes(MEMORY.limit()),
        }
    }

    /// Parses another input. Declarations are resolved once all inputs are present.
    fn add(&mut self, name: String, text: String) -> Result<(), Refused> {
        let bytes: usize = self.texts.iter().map(String::len).sum();
        if bytes.saturating_add(text.len()) > MAX_BYTES {
            return Err((ERROR_OUT_OF_MEMORY, "the inputs are too large".to_owned()));
        }
        let mut left = self.left;
        let module = ptx::parse_from(&text, &mut left).map_err(|e| match left {
            0 => (ERROR_OUT_OF_MEMORY, format!("the inputs are too large: {e}")),
            _ => (ERROR_INVALID_PTX, format!("the PTX cannot be read: {e}")),
        })?;
        ptx::table::check(&module).map_err(|e| (ERROR_INVALID_PTX, e.to_string()))?;
        self.left = left;
        let input = Input { name, module };
        let fits = self.prototypes.add(&input);
        // Mismatches are found again when the link is completed.
        self.texts.push(text);
        self.modules.push(input);
        fits.map_err(|e| linker_error(&e))
    }

    /// Returns the text of the linked inputs.
    fn complete(&mut self, max_registers: Option<u32>) -> Result<String, Refused> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let module = ptx::link::link(&mut self.modules).map_err(|e| linker_error(&e))?;
        let text = compiled(&self.texts, module, max_registers);
        self.failed = text.as_ref().err().cloned();
        text
    }
}

/// Returns the text of a linked module, which compiles.
fn compiled(texts: &[String], mut module: ptx::Module, max_registers: Option<u32>) -> Result<String, Refused> {
    let text = match texts {
        [one] if max_registers.is_none() => one.clone(),
        _ => {
            if let Some(max_registers) = max_registers {
                limit_registers(&mut module, max_registers);
            }
            // The head of a text, written by `cargo xtask ptx`, has the numbers of registers.
            let heads = texts.iter().flat_map(|text| text.lines().take_while(|l| l.starts_with("// sm_")));
            let heads: String = heads.map(|line| format!("{line}\n")).collect();
            format!("{heads}{module}")
        }
    };
    drop(module);
    // Compiled once for its errors, in a memory of its own.
    compile(&Arc::new(Memory::new(MEMORY.limit())), &text)?;
    Ok(text)
}

/// Adds `CU_JIT_MAX_REGISTERS` as a directive to kernels that have none.
fn limit_registers(module: &mut ptx::Module, max_registers: u32) {
    for item in &mut module.items {
        if let Item::Function(f) = item
            && f.kind == FunctionKind::Entry
            && f.directives.iter().all(|(name, _)| name != "maxnreg")
        {
            f.directives.push(("maxnreg".to_owned(), vec![max_registers]));
        }
    }
}

export! {
    fn cuLinkCreate_v2 6050 | cuLinkCreate 5050(n: c_uint, options: In<c_uint>, values: Out<usize>, out: Out<Handle>) {
        ready_for(out)?;
        usable()?;
        // SAFETY: the caller promises as many options and values.
        let log = unsafe { Log::new(n, options, values) }?;
        let made = LINKS.insert_with(|_| Link { log, inputs: Mutex::new(Inputs::new()), image: Mutex::default() });
        out.put(made.0)
    }

    fn cuLinkAddData_v2 6050 | cuLinkAddData 5050(
        handle: Handle, kind: c_uint, data: In<u8>, size: usize, name: Text, _n: c_uint, _options: In<c_uint>,
        _values: Out<usize>,
    ) {
        refuse_if(size == 0, ERROR_INVALID_VALUE)?;
        if kind == input::LIBRARY && !name.is_null() && is_device_runtime(&name.get()?) {
            return add(handle, input::PTX, "libcudadevrt.a".to_owned(), Ok(DEVICE_RUNTIME.to_owned()));
        }
        let name = if name.is_null() { "input".to_owned() } else { name.get()? };
        if kind != input::PTX {
            return add(handle, kind, name, Ok(String::new()));
        }
        // The text has this length, or ends at a NUL before that.
        // SAFETY: the caller promises as many bytes.
        let image = Image::of_bytes(&unsafe { data.list(size) }?);
        add(handle, kind, name, image.and_then(Image::into_text))
    }

    fn cuLinkAddFile_v2 6050 | cuLinkAddFile 5050(
        handle: Handle, kind: c_uint, path: Text, _n: c_uint, _options: In<c_uint>, _values: Out<usize>,
    ) {
        let path = path.get()?;
        if kind == input::LIBRARY && is_device_runtime(&path) && std::path::Path::new(&path).is_file() {
            return add(handle, input::PTX, path, Ok(DEVICE_RUNTIME.to_owned()));
        }
        let image = Image::read_file(&path);
        add(handle, kind, path, image.and_then(Image::into_text))
    }

    fn cuLinkComplete 5050(handle: Handle, image: Out<*const c_void>, size: Out<usize>) {
        ready_for(image)?;
        let link = LINKS.find(handle)?;
        let mut inputs = lock(&link.inputs);
        refuse_if(inputs.texts.is_empty(), ERROR_INVALID_VALUE)?;
        let mut made = lock(&link.image);
        if made.is_none() {
            let text = inputs.complete(link.log.max_registers).or_else(|why| link.log.refuse(why))?;
            *made = CString::new(text).ok();
        }
        // The text lives until the link is destroyed; it is never changed once it is set.
        let text = made.as_ref().ok_or(ERROR_UNKNOWN)?;
        image.put(text.as_ptr().cast())?;
        size.put_if_wanted(text.as_bytes_with_nul().len());
        Ok(())
    }

    fn cuLinkDestroy 5050(handle: Handle) = LINKS.destroy(handle).map(drop);
}
