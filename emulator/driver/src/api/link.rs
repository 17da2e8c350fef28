//! The JIT linker, as far as PTX goes: one text in, the same text out as the "cubin" that `cuModuleLoadData` takes.
//!
//! Programs that compile PTX by `cuLinkAddData` and `cuLinkComplete` work; linking several inputs together does not.

use std::ffi::{CString, c_uint, c_void};
use std::sync::{Arc, Mutex};

use simt::memory::Memory;

use crate::diagnose;
use crate::edge::{In, Out, Text, export};
use crate::handle::{Kind, Table};
use crate::image::{Log, compile, image_text, read_file};
use crate::result::*;
use crate::state::{MEMORY, initialised, lock, usable};
use crate::types::Handle;

/// A link in the making.
struct Link {
    /// Options given at its creation: their buffers take what adding finds wrong.
    log: Log,
    text: Mutex<Option<CString>>,
}

static LINKS: Table<Link> = Table::new(Kind::Link);

/// `CU_JIT_INPUT_PTX`
const PTX: c_uint = 1;

fn link(handle: Handle) -> Result<Arc<Link>, CUresult> {
    initialised()?;
    LINKS.get(handle).ok_or(ERROR_INVALID_HANDLE)
}

fn add(handle: Handle, kind: c_uint, text: Result<String, (CUresult, String)>) -> Outcome {
    let link = link(handle)?;
    if kind != PTX {
        diagnose::say_once("cuLink takes PTX only: other inputs are made for real GPUs");
        return Err(if kind <= 6 {
            ERROR_NOT_SUPPORTED
        } else {
            ERROR_INVALID_VALUE
        });
    }
    // Compiled once for its errors, in a memory that nobody sees.
    let checked = text.and_then(|text| compile(&Arc::new(Memory::new(MEMORY.limit())), &text).map(|_| text));
    match checked {
        Ok(text) => {
            let mut slot = lock(&link.text);
            if slot.is_some() {
                diagnose::say_once("cuLink of several inputs is not supported");
                return Err(ERROR_NOT_SUPPORTED);
            }
            *slot = CString::new(text).ok();
            Ok(())
        }
        Err((code, message)) => {
            link.log.report(&message)?;
            Err(code)
        }
    }
}

export! {
    fn cuLinkCreate_v2(n: c_uint, options: In<c_uint>, values: Out<usize>, out: Out<Handle>) {
        initialised()?;
        out.check()?;
        usable()?;
        // SAFETY: the caller promises as many options and values.
        let log = unsafe { Log::new(n, options, values) }?;
        out.put(LINKS.insert_with(|_| Link { log, text: Mutex::default() }).0)
    }

    fn cuLinkAddData_v2(
        handle: Handle,
        kind: c_uint,
        data: In<u8>,
        size: usize,
        _name: Text,
        _n: c_uint,
        _options: In<c_uint>,
        _values: Out<usize>,
    ) {
        if size == 0 {
            return Err(ERROR_INVALID_VALUE);
        }
        // As long as said, or up to a NUL before that.
        // SAFETY: the caller promises as many bytes.
        let bytes = unsafe { data.list(size) }?;
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(size);
        let text = CString::new(&bytes[..end]).map_err(|_| ERROR_UNKNOWN)?;
        // SAFETY: our own text, with its NUL.
        add(handle, kind, unsafe { image_text(In::new(text.as_ptr().cast())) })
    }

    fn cuLinkAddFile_v2(
        handle: Handle,
        kind: c_uint,
        path: Text,
        _n: c_uint,
        _options: In<c_uint>,
        _values: Out<usize>,
    ) {
        let path = path.get()?;
        add(handle, kind, read_file(&path))
    }

    fn cuLinkComplete(handle: Handle, image: Out<*const c_void>, size: Out<usize>) {
        initialised()?;
        image.check()?;
        let link = link(handle)?;
        let text = lock(&link.text);
        let text = text.as_ref().ok_or(ERROR_INVALID_VALUE)?;
        // Lives until the link is destroyed; never changed once it is there.
        image.put(text.as_ptr().cast())?;
        size.put_if_wanted(text.as_bytes_with_nul().len());
        Ok(())
    }

    fn cuLinkDestroy(handle: Handle) {
        initialised()?;
        LINKS.remove(handle).map(|_| ()).ok_or(ERROR_INVALID_HANDLE)
    }
}
