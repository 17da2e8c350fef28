//! Messages of the emulated GPU for the gallery: the first line for each kind of mistake.
//!
//! `cargo run -p exhibits --example findings`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // The whole messages, as a test of the gallery keeps them.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/it/snapshots/diagnosed");
    let mut by_code: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // A failed test leaves `.snap.new` beside them.
    for path in catalog::files::files_ending_with(&folder, ".snap")? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // `error[E-OOB]: read past the end of `A`      path:line:column`
        let told = text
            .lines()
            .filter(|line| line.starts_with("error[") || line.starts_with("warning["))
            .find_map(|line| line.split_once("]: "));
        let (code, title) = match told {
            Some((head, title)) => (
                head.split_once('[').map_or(head, |(_, code)| code),
                title.split("  ").next().unwrap_or(title),
            ),
            // The module does not load, so there is no launch to tell of.
            None => ("refused when loaded", text.rsplit("---").next().unwrap_or(&text).trim()),
        };
        by_code.entry(code.to_owned()).or_default().push(format!("{name}: {title}"));
    }
    let n: usize = by_code.values().map(Vec::len).sum();
    println!("{n} broken kernels in tests/fixtures/diagnosed:");
    for (code, mut messages) in by_code {
        messages.sort();
        println!("{code}");
        for message in messages {
            println!("  {message}");
        }
    }
    Ok(())
}
