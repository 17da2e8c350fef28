//! What the emulated GPU says of the gallery: the first line of its message for each kind of mistake.
//!
//! `cargo run -p exhibits --example findings`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // The whole messages, as a test of the gallery keeps them.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/it/snapshots/gallery");
    let mut by_code: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path)?;
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // `error[E-OOB]: read past the end of `A`      path:line:column`
        let line = text
            .lines()
            .find(|line| line.starts_with("error[") || line.starts_with("warning["));
        let (head, title) = line
            .and_then(|line| line.split_once("]: "))
            .ok_or("a message without a code")?;
        let code = head.split_once('[').map_or(head, |(_, code)| code);
        let title = title.split("  ").next().unwrap_or(title);
        by_code
            .entry(code.to_owned())
            .or_default()
            .push(format!("{name}: {title}"));
    }
    let n: usize = by_code.values().map(Vec::len).sum();
    println!("{n} broken kernels in tests/data/gallery:");
    for (code, mut messages) in by_code {
        messages.sort();
        println!("{code}");
        for message in messages {
            println!("  {message}");
        }
    }
    Ok(())
}
