//! Calls with little to do.

use std::ffi::{c_int, c_uint, c_void};

use crate::contexts::{current, initialised};
use crate::edge::{In, Out, Text, export};
use crate::result::*;
use crate::types::Uuid;

export! {
    fn cuProfilerInitialize 4000(_config: Text, _output: Text, mode: c_int) {
        initialised()?;
        if (0..=1).contains(&mode) { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
    }

    fn cuProfilerStart 4000 | cuProfilerStop 4000() {
        current().map(|_| ())
    }

    fn cuGetExportTable 3000(out: Out<*const c_void>, id: In<Uuid>) {
        out.put_if_wanted(std::ptr::null());
        id.get()?;
        // No message: the runtime queries tables that it can do without, as when NVRTC's users ask for its version.
        Err(ERROR_INVALID_VALUE)
    }

    fn cuFlushGPUDirectRDMAWrites 11030(_target: c_uint, _scope: c_uint) {
        current()?;
        Err(ERROR_NOT_SUPPORTED)
    }
}
