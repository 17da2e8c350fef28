//! Any bytes: reading a cubin never panics, and all that is read can be printed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = sass::Module::read(bytes) else { return };
    for kernel in &module.kernels {
        for instruction in &kernel.instructions {
            assert!(!instruction.to_string().is_empty());
            let _ = kernel.line(instruction.address);
        }
    }
});
