//! The file of answers: one line per fixture, compressed as a whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use catalog::files::files_ending_with;

/// Answers of a device, by the fixture's name: its results in order, or why there are none.
pub type Answers = BTreeMap<String, Result<Vec<u64>, String>>;

/// Writes `name<TAB>count hex hex …`, or `name<TAB>!reason`; runs of one value are written once. Deflated.
pub fn write_answers(answers: &Answers) -> Vec<u8> {
    let mut text = String::new();
    for (name, answer) in answers {
        let _ = write!(text, "{name}\t");
        match answer {
            Ok(values) => {
                for run in values.chunk_by(|a, b| a == b) {
                    let _ = write!(text, "{:x}", run[0]);
                    let _ = if run.len() > 1 { write!(text, "*{:x} ", run.len()) } else { write!(text, " ") };
                }
            }
            Err(reason) => {
                let _ = write!(text, "!{}", reason.replace(['\n', '\t'], " "));
            }
        }
        text.push('\n');
    }
    miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 9)
}

/// Reads what [`write_answers`] wrote; `None` if that is not such a file.
pub fn read_answers(bytes: &[u8]) -> Option<Answers> {
    let text = String::from_utf8(miniz_oxide::inflate::decompress_to_vec_zlib(bytes).ok()?).ok()?;
    text.lines().map(line).collect()
}

/// Returns the answers in all files `.bin` of a folder.
pub fn answers_in(folder: &Path) -> io::Result<Answers> {
    let mut all = Answers::new();
    for path in files_ending_with(folder, ".bin")? {
        let answers = read_answers(&fs::read(&path)?);
        all.extend(answers.ok_or_else(|| io::Error::other(format!("{}: no answers", path.display())))?);
    }
    Ok(all)
}

/// Returns the modules of machine code, each with the names of the fixtures that its kernels are of: a line of names
/// between tabs, the length in bytes on a line, the bytes. Deflated.
pub fn write_code(modules: &[(Vec<String>, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (names, cubin) in modules {
        bytes.extend(format!("{}\n{}\n", names.join("\t"), cubin.len()).bytes());
        bytes.extend(cubin);
    }
    miniz_oxide::deflate::compress_to_vec_zlib(&bytes, 9)
}

/// Reads what [`write_code`] wrote; `None` if that is not such a file.
pub fn read_code(bytes: &[u8]) -> Option<Vec<(Vec<String>, Vec<u8>)>> {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib(bytes).ok()?;
    let mut rest = &bytes[..];
    let mut modules = Vec::new();
    while !rest.is_empty() {
        let mut parts = rest.splitn(3, |byte| *byte == b'\n');
        let mut text = || std::str::from_utf8(parts.next()?).ok();
        let (names, length) = (text()?, text()?.parse().ok()?);
        let (cubin, others) = parts.next()?.split_at_checked(length)?;
        modules.push((names.split('\t').map(str::to_owned).collect(), cubin.to_vec()));
        rest = others;
    }
    Some(modules)
}

fn line(line: &str) -> Option<(String, Result<Vec<u64>, String>)> {
    let (name, rest) = line.split_once('\t')?;
    if let Some(reason) = rest.strip_prefix('!') {
        return Some((name.to_string(), Err(reason.to_string())));
    }
    let mut values = Vec::new();
    for word in rest.split_whitespace() {
        let (value, count) = word.split_once('*').unwrap_or((word, "1"));
        let value = u64::from_str_radix(value, 16).ok()?;
        values.extend(std::iter::repeat_n(value, usize::from_str_radix(count, 16).ok()?));
    }
    Some((name.to_string(), Ok(values)))
}

#[cfg(test)]
mod tests {
    use super::{Answers, read_answers, write_answers};

    #[test]
    fn what_is_written_is_read() {
        let mut answers = Answers::new();
        answers.insert("add.s32".into(), Ok(vec![1, 1, 1, u64::MAX, 0]));
        answers.insert("nonsense".into(), Err("invalid PTX".into()));
        assert_eq!(read_answers(&write_answers(&answers)), Some(answers));
    }
}
