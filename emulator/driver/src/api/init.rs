//! Initialisation of the driver: `cuInit`.

use std::ffi::c_uint;

use crate::api::{array, library, module, texture};
use crate::contexts::{self, Forget};
use crate::ffi::export;
use crate::result::*;
use crate::{allocations, capture, lifecycle, streams};

/// Destructors of a context's objects: users of memory before memory.
const AT_END: [Forget; 7] = [
    capture::forget_context,
    streams::forget_context,
    module::forget_context,
    library::forget_context,
    array::forget_context,
    texture::forget_context,
    allocations::forget_context,
];

export! {
    fn cuInit 2000(flags: c_uint) {
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        contexts::at_end(&AT_END);
        lifecycle::initialise();
        Ok(())
    }
}
