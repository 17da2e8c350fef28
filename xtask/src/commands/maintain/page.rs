//! `cargo xtask page`: the WebAssembly modules with which pages of the book run kernels, into `target/page`.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use catalog::files::write_whole_bytes;
use catalog::programs::all_on_path;
use xtask_support::interrupt;
use xtask_support::{CommandOutcome, output, paths};
use zopfli::{BlockType, Options, Write as _, ZlibEncoder};

use crate::rustc;

#[derive(clap::Args)]
pub(crate) struct Args {}

const TARGET: &str = "wasm32-unknown-unknown";
/// A library built for size, which takes a tenth off the module. Cargo calls both options unstable.
const SMALL_STD: [&str; 2] = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
/// No random numbers of a system, and no text of panics, which nobody would read.
const OPTIONS: &str = "-Ctarget-feature=+simd128 --cfg=getrandom_backend=\"unsupported\" -Zunstable-options \
    -Cpanic=immediate-abort";

/// The modules: that of committed kernels, with all instructions, and that of learners' kernels, which is smaller. The
/// last one's list of sources stays.
const MODULES: [(&str, &str, &[&str]); 2] =
    [("tensor.wasm", "tensor.js", &[]), ("page.wasm", "module.js", &["--features=page/scalar"])];

pub(crate) fn run(_: &Args) -> Result<CommandOutcome> {
    let root = paths::checkout().context("the module is built in a checkout, and this folder is not one")?;
    let folder = root.join("target/page");
    for (name, script, features) in MODULES {
        output::note(&format!("building target/page/{script}; the first time takes some minutes"));
        if !build(&root, &folder, features)? {
            output::error("the module does not build; see the output of cargo above");
            return Ok(CommandOutcome::Failed);
        }
        let module = std::fs::read(folder.join(TARGET).join("page/page.wasm")).context("reading page.wasm")?;
        let packed = deflated(&module).ok().context("packing page.wasm")?;
        let text = format!("self.tileModule = \"{}\";\n", base64(&packed));
        for (name, bytes) in [(name, module.as_slice()), (script, text.as_bytes())] {
            let path = folder.join(name);
            write_whole_bytes(&path, bytes).with_context(|| format!("writing {}", paths::display_path(&path)))?;
        }
        let [all, packed] = [module.len(), packed.len()].map(|bytes| bytes.div_ceil(1000));
        output::print(&format!("target/page/{script}: a module of {all} kB, {packed} kB deflated\n"))?;
    }
    Ok(CommandOutcome::Passed)
}

fn deflated(module: &[u8]) -> Result<Vec<u8>, zopfli::Error> {
    /// Three times as many take off another 200 bytes.
    const ITERATIONS: NonZeroU64 = NonZeroU64::new(5).expect("not zero");
    let effort = Options { iteration_count: ITERATIONS, ..Options::default() };
    let mut encoder = ZlibEncoder::new(effort, BlockType::Dynamic, Vec::new())?;
    encoder.write_all(module)?;
    encoder.finish()
}

/// Builds a module with these options of Cargo; false when it does not build.
fn build(root: &Path, folder: &Path, features: &[&str]) -> Result<bool> {
    let cargo = paths::cargo().context("the module is built by Cargo; start this with: cargo xtask page")?;
    let mut command = Command::new(cargo);
    command.args(["build", "--package=page", "--profile=page", "--target", TARGET, "--target-dir"]).arg(folder);
    command.args(features).args(SMALL_STD).current_dir(root);
    command.env("RUSTC", find_rustc()?).env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", OPTIONS);
    // A toolchain of rustup has a linker of its own.
    if let Some(linker) = all_on_path("wasm-ld").first() {
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    let status = interrupt::wait_for(&mut command.spawn().context("starting cargo")?)?;
    interrupt::check("there is no new module")?;
    Ok(status.success())
}

/// Returns a rustc with the source of its library.
fn find_rustc() -> Result<PathBuf> {
    let has_source = |program: &PathBuf| {
        let sysroot = rustc::printed(program, &["--print=sysroot"]);
        sysroot.is_ok_and(|sysroot| Path::new(&sysroot).join("lib/rustlib/src/rust/library/std").is_dir())
    };
    all_on_path("rustc").into_iter().find(has_source).context(
        "no rustc on the PATH has the source of its library, of which the module is built; get it with: rustup component \
         add rust-src, or on Debian: apt install rustc-web rust-web-src lld",
    )
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| chunk.get(at).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > chunk.len() { '=' } else { digit.into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_its_standard() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }
}
