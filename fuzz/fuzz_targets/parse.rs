//! Any text: reading never panics, and what can be read is the same after printing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(module) = ptx::parse(text) else { return };
    let printed = module.to_string();
    // A refusal is fine, a panic is not.
    let _ = ptx::table::check(&module);
    match ptx::parse(&printed) {
        Ok(again) => assert_eq!(again.without_spans(), module.without_spans(), "{printed}"),
        Err(error) => panic!("{error}\n{printed}"),
    }
});
