//! Control of the profiler: accepted, without effect.

use std::ffi::c_int;

use crate::ffi::{Text, export};
use crate::result::*;
use crate::{contexts::current, lifecycle::initialised};

export! {
    fn cuProfilerInitialize 4000(_config: Text, _output: Text, mode: c_int) {
        initialised()?;
        if (0..=1).contains(&mode) { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
    }

    fn cuProfilerStart 4000 | cuProfilerStop 4000() = current().map(|_| ());
}
