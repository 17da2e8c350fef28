//! Writes the kernels of `tests::tensor_cores`, their inputs, and what the emulated GPU answers, for comparing with a
//! real one.
//!
//! `cargo run -p tests --example tensor_cores -- FOLDER`
//!
//! `NN.ptx` has the kernel, `NN.in` its input, `NN.out` the answer, both little-endian words, and `list` a line for
//! each kernel: number, blocks, words that come back, name.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tests::tensor_cores::fixtures;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: tensor_cores FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut list = String::new();
    for (number, fixture) in fixtures().iter().enumerate() {
        let answer = fixture.emulate();
        fs::write(folder.join(format!("{number:02}.ptx")), fixture.ptx())?;
        fs::write(folder.join(format!("{number:02}.in")), bytes(&fixture.inputs))?;
        fs::write(folder.join(format!("{number:02}.out")), bytes(&answer))?;
        writeln!(list, "{number:02} {} {} {}", fixture.blocks(), answer.len(), fixture.name)?;
    }
    fs::write(folder.join("list"), list)?;
    Ok(())
}
