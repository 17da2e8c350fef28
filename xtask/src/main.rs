//! `cargo xtask`: the command line of the workspace.

fn main() {}
