//! Names of errors, and look-up of export tables.

use std::ffi::{CStr, c_char, c_void};

use crate::ffi::{In, Out, export};
use crate::result::*;
use crate::types::Uuid;

export! {
    fn cuGetErrorName 6000(error: CUresult, name: Out<*const c_char>) =
        put_text(name, describe(error).map(|(name, _)| name));
    fn cuGetErrorString 6000(error: CUresult, description: Out<*const c_char>) =
        put_text(description, describe(error).map(|(_, description)| description));

    fn cuGetExportTable 3000(out: Out<*const c_void>, id: In<Uuid>) {
        out.put_if_wanted(std::ptr::null());
        id.get()?;
        // No message: the runtime queries tables that are optional, as for the version of NVRTC.
        Err(ERROR_INVALID_VALUE)
    }
}

/// Writes a text about a code: null if the code is unknown.
fn put_text(out: Out<*const c_char>, text: Option<&'static CStr>) -> Outcome {
    out.put(text.map_or(std::ptr::null(), CStr::as_ptr))?;
    text.map(|_| ()).ok_or(ERROR_INVALID_VALUE)
}
