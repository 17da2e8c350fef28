//! Writes the cases of `tests::wgmma` for `tests/data/wgmma/run.cpp`, which runs them on a GPU:
//! `cargo run -p tests --example wgmma_cases -- DIR`.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use tests::wgmma::{cases, image, module, sums};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("cases.ptx"), module())?;
    let (mut names, mut data) = (String::new(), Vec::new());
    let mut known: Vec<(Vec<u32>, usize)> = Vec::new();
    let mut place = |words: Vec<u32>| match known.iter().find(|(old, _)| *old == words) {
        Some((_, at)) => *at,
        None => {
            let at = data.len();
            data.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            known.push((words, at));
            at
        }
    };
    for case in cases() {
        let (image, sums) = (place(image(case.image())), place(sums(&case)));
        let [a, b] = case.descriptors;
        let adds = u32::from(case.adds);
        let (kernel, words, name) = (case.form.kernel(), case.form.words(), &case.name);
        let _ = writeln!(names, "{kernel} {words} {a} {b} {adds} {image} {sums} {name}");
    }
    fs::write(folder.join("cases.txt"), names)?;
    fs::write(folder.join("cases.bin"), data)
}
