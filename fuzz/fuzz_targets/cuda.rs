//! Any text: reading CUDA C++ never panics, and each message can be printed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (_, sources, messages) = cuda::parse::parse(cuda::Input { name: "fuzz.cu", text, headers: &[] });
    for message in &messages {
        let _ = cuda::render::render(message, &sources);
    }
});
