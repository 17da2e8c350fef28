//! The fuzzer of the driver's calls, for its test: the tool itself is an example.

#[allow(dead_code, reason = "the example's own `main`")]
#[path = "tools/fuzz_calls.rs"]
mod fuzz_calls;
