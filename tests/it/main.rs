//! Tests of behaviour across crates.

#![forbid(unsafe_code)]

mod accesses;
mod asynchronous;
mod built_in_compiler;
mod calibrate;
mod conformance;
mod corpus;
mod counters;
mod diagnosed;
mod hopper;
mod ladder;
mod machine_code;
mod machine_tensor;
mod merged;
mod mma;
mod promises;
mod ptx_fresh;
mod random;
mod rust_kernels;
mod sanitizer;
mod steps;
mod sums;
mod tensor;
mod unseen;
mod wgmma;

/// Settings for snapshots in files of a folder, which are named as in the call.
fn snapshots_in(folder: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings
}
