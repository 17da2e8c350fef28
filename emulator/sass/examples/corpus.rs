//! Makes the data that the tests of this crate compare with, in `tests/data/machine`.
//!
//! ```text
//! cargo run -p sass --example corpus -- PTXAS NVDISASM [FOLDER]
//! ```
//!
//! Both programs come with NVIDIA's CUDA toolkit, and in the Python packages `nvidia-cuda-nvcc-cu12` and
//! `nvidia-cuda-nvdisasm`. Code for sm_90 of the ladder is the one in `kernels/cubin`; everything else is what ptxas
//! makes of the PTX of the repository, and of the modules in FOLDER, which `cargo run -p tests --example conformance --
//! --ptx FOLDER` writes.
//!
//! The program counts for each GPU the instructions that this crate prints as `nvdisasm` does.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sass::Architecture;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// GPUs, and the number of instructions of one kind that are kept of each; 0: all are compared, none is kept.
const GPUS: [(u32, usize); 5] = [(90, 2), (80, 1), (75, 1), (86, 0), (89, 0)];
/// An instruction without effect; stands in for words that `nvdisasm` refuses.
const NOP: u128 = 0x000fc000000000000000000000007918;
/// Words for `nvdisasm` at a time: each that it refuses costs another run.
const AT_ONCE: usize = 100;

struct Programs {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

/// Words by opcode and bits 72 to 91, mostly modifiers: this crate's decoding does not influence the choice.
type Corpus = BTreeMap<(u128, u128), BTreeSet<u128>>;

#[expect(clippy::print_stdout, reason = "an example says what came out")]
fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [ptxas, nvdisasm, folders @ ..] = arguments.as_slice() else {
        return Err("usage: corpus PTXAS NVDISASM [FOLDER]".into());
    };
    let programs = Programs { ptxas: ptxas.clone(), nvdisasm: nvdisasm.clone() };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = root.join("tests/data/machine");
    let mut sources = Vec::new();
    for folder in ["kernels/ptx", "tests/data", "book/exhibits/kernels", "emulator/nvcuda/tests/it"] {
        sources.extend(files(&root.join(folder), "ptx")?);
    }
    for folder in folders {
        sources.extend(files(folder, "ptx")?);
    }
    let mut texts = String::new();
    for path in files(&root.join("kernels/cubin"), "cubin")? {
        let name = path.file_stem().ok_or("a file has a name")?.to_string_lossy();
        texts.push_str(&format!("# {name}\n"));
        let cubin = fs::read(&path)?;
        for (section, words) in code(&cubin)? {
            texts.push_str(&format!("{section}\n"));
            for text in programs.disassemble(90, &words)? {
                let text = text.ok_or("nvdisasm refuses what NVRTC made")?;
                texts.push_str(&format!("{text}\n"));
            }
        }
    }
    fs::write(data.join("ladder.txt.z"), deflate(texts.as_bytes()))?;
    for (sm, kept) in GPUS {
        let (mut all, mut corpus) = (BTreeSet::new(), Corpus::new());
        for path in &sources {
            // Some are there to be refused.
            let Ok(cubin) = programs.assemble(sm, path) else { continue };
            for (_, words) in code(&cubin)? {
                for word in words {
                    all.insert(word);
                    keep(&mut corpus, word, kept);
                }
            }
        }
        if kept > 0 && sm != 90 {
            let mut cubin = programs.assemble(sm, &root.join("kernels/ptx/v02_shared.ptx"))?;
            forget_ptx(&mut cubin)?;
            fs::write(data.join(format!("v02_shared.sm_{sm}.z")), deflate(&cubin))?;
        }
        let architecture = Architecture::of(sm).ok_or("the architecture is not known")?;
        let all: Vec<u128> = all.into_iter().collect();
        let (mut same, mut other, mut unknown) = (0, 0, 0);
        for words in all.chunks(AT_ONCE * 100) {
            for (at, text) in programs.disassemble(sm, words)?.into_iter().enumerate() {
                let text = text.ok_or("nvdisasm refuses what ptxas made")?;
                match sass::decode(architecture, words[at], at as u32 * 16) {
                    Ok(one) if one.to_string().trim_end() == text => same += 1,
                    Ok(one) => {
                        eprintln!("sm_{sm}: {one} for {text} ({:032x})", words[at]);
                        other += 1;
                    }
                    Err(_) => unknown += 1,
                }
            }
        }
        println!("sm_{sm}: {same} instructions are printed alike, {other} otherwise, {unknown} are not known here");
        if kept == 0 {
            continue;
        }
        let mut words: Vec<u128> = corpus.values().flatten().copied().collect();
        words.extend(changes(architecture, &words));
        let mut lines = String::new();
        for words in words.chunks(AT_ONCE) {
            for (at, text) in programs.disassemble(sm, words)?.into_iter().enumerate() {
                if let Some(text) = text {
                    lines.push_str(&format!("{:032x} {:x} {text}\n", words[at], at * 16));
                }
            }
        }
        fs::write(data.join(format!("sm_{sm}.txt.z")), deflate(lines.as_bytes()))?;
    }
    Ok(())
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 9)
}

fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn keep(corpus: &mut Corpus, word: u128, most: usize) {
    let kept = corpus.entry((word & 0xfff, word >> 72 & 0xfffff)).or_default();
    if kept.len() < most {
        kept.insert(word);
    }
}

/// Returns an instruction of each row with each bit changed that is not a register or immediate, where in the table.
fn changes(architecture: Architecture, words: &[u128]) -> Vec<u128> {
    let mut rows: Vec<(&sass::table::Row, u128)> = Vec::new();
    for &word in words {
        if let Ok(instruction) = sass::decode(architecture, word, 0)
            && !rows.iter().any(|(row, _)| std::ptr::eq(*row, instruction.row))
        {
            rows.push((instruction.row, word));
        }
    }
    let bits = [12, 15, 24, 32, 38, 40].into_iter().chain(54..92).chain(122..126);
    rows.iter()
        .flat_map(|(_, word)| bits.clone().map(move |bit| word ^ 1 << bit))
        .filter(|&word| sass::decode(architecture, word, 0).is_ok())
        .collect()
}

impl Programs {
    fn assemble(&self, sm: u32, path: &Path) -> Result<Vec<u8>> {
        let cubin = std::env::temp_dir().join(format!("corpus-{}.cubin", std::process::id()));
        let mut ptxas = Command::new(&self.ptxas);
        let output = ptxas.arg(format!("-arch=sm_{sm}")).arg(path).arg("-o").arg(&cubin).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let bytes = fs::read(&cubin)?;
        fs::remove_file(cubin)?;
        Ok(bytes)
    }

    /// Returns the text of each word as if it were at its place in the slice, or `None` for refused words.
    fn disassemble(&self, sm: u32, words: &[u128]) -> Result<Vec<Option<String>>> {
        let file = std::env::temp_dir().join(format!("corpus-{}.bin", std::process::id()));
        let mut words = words.to_vec();
        let mut refused = BTreeSet::new();
        loop {
            fs::write(&file, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
            let output = Command::new(&self.nvdisasm).arg("-b").arg(format!("SM{sm}")).arg(&file).output()?;
            if output.status.success() {
                fs::remove_file(&file)?;
                let text = String::from_utf8(output.stdout)?;
                let lines: Vec<String> = text.lines().filter_map(instruction).collect();
                if lines.len() != words.len() {
                    return Err("nvdisasm leaves instructions out".into());
                }
                return Ok(lines
                    .into_iter()
                    .enumerate()
                    .map(|(at, line)| (!refused.contains(&at)).then_some(line))
                    .collect());
            }
            let errors = String::from_utf8(output.stderr)?;
            let mut found = false;
            for part in errors.split("at address 0x").skip(1) {
                let digits = part.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
                let at = usize::from_str_radix(digits, 16)? / 16;
                found |= refused.insert(at);
                *words.get_mut(at).ok_or("nvdisasm names an address outside")? = NOP;
            }
            if !found {
                return Err(errors.into());
            }
        }
    }
}

/// Parses a line such as `        /*0010*/                   S2R R0, SR_TID.X ;`.
fn instruction(line: &str) -> Option<String> {
    let (_, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let (text, _) = rest.rsplit_once(';')?;
    Some(text.trim().to_owned())
}

/// Returns the sections of code of a cubin: name and words. The compiler's own output is trusted.
fn code(cubin: &[u8]) -> Result<Vec<(String, Vec<u128>)>> {
    let mut found = Vec::new();
    for (name, start, size) in sections(cubin)? {
        if name.starts_with(".text.") {
            let bytes = cubin.get(start..start + size).ok_or("a section is cut off")?;
            let words = bytes.as_chunks::<16>().0.iter().map(|word| u128::from_le_bytes(*word));
            found.push((name, words.collect()));
        }
    }
    Ok(found)
}

/// Overwrites the unused copy of the PTX with zeros.
fn forget_ptx(cubin: &mut [u8]) -> Result<()> {
    for (name, start, size) in sections(cubin)? {
        if name == ".nv_debug_ptx_txt" {
            let text = cubin.get_mut(start..start + size);
            text.ok_or("a section is cut off")?.fill(0);
        }
    }
    Ok(())
}

fn sections(cubin: &[u8]) -> Result<Vec<(String, usize, usize)>> {
    let number = |at: usize, n: usize| -> Result<usize> {
        let bytes = cubin.get(at..at + n).ok_or("the file is cut off")?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    };
    let (table, n, names) = (number(0x28, 8)?, number(0x3c, 2)?, number(0x3e, 2)?);
    let names = number(table + names * 64 + 24, 8)?;
    let mut found = Vec::new();
    for at in (0..n).map(|i| table + i * 64) {
        let name = &cubin[names + number(at, 4)?..];
        let end = name.iter().position(|&byte| byte == 0).ok_or("a name has no end")?;
        let name = String::from_utf8(name[..end].to_vec())?;
        found.push((name, number(at + 24, 8)?, number(at + 32, 8)?));
    }
    Ok(found)
}
