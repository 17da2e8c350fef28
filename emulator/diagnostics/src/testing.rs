//! Kernels for the tests.

use std::sync::Arc;

use simt::memory::Memory;
use simt::module::{LoadedKernel, Module};

/// Returns the first kernel of a module; the text leaves out the header.
pub(crate) fn load(text: &str) -> Arc<LoadedKernel> {
    let memory = Arc::new(Memory::new(1 << 20));
    let text = format!(".version 8.4 .target sm_80 .address_size 64 {text}");
    match Module::load(&memory, &text, None) {
        Ok(module) => Arc::clone(&module.kernels()[0]),
        Err(error) => panic!("the module does not load: {error}"),
    }
}
