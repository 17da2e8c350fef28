//! A wrong kernel is a copy of a step's with one mistake: a copy that was left behind would have others.

use std::path::{Path, PathBuf};

/// As many lines may be changed, on either side.
const MISTAKE: usize = 4;

/// `v03_half_a_tile.cu` and the like, below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut paths = catalog::files::files_ending_with(folder, ".cu").expect("there are kernels");
    paths.retain(|path| stem(path).starts_with('v'));
    paths
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a kernel is text")
}

/// Returns the lines of a source, without comments and blank lines.
fn code(text: &str) -> Vec<String> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().trim().to_owned();
    text.lines().map(code).filter(|line| !line.is_empty()).collect()
}

/// Returns the part that the book shows; a file may have other kernels beside it.
fn shown(text: &str) -> &str {
    let (_, rest) = text.split_once("// ANCHOR: kernel").expect("the book shows a part");
    rest.split_once("// ANCHOR_END: kernel").expect("and it ends").0
}

/// Lines of `of` that `other` has not, or less often.
fn missing(of: &[String], other: &[String]) -> Vec<String> {
    let mut left = other.to_vec();
    let mut missing = of.to_vec();
    missing.retain(|line| match left.iter().position(|l| l == line) {
        Some(at) => {
            left.swap_remove(at);
            false
        }
        None => true,
    });
    missing
}

#[test]
fn wrong_kernels_have_one_mistake() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let steps = sources(&here.join("../../kernels"));
    let wrong = sources(&here.join("kernels"));
    assert!(!wrong.is_empty());
    for path in wrong {
        let step = stem(&path).split('_').next().unwrap_or_default();
        let copy = code(&read(&path));
        // The kernel of the step that it was copied from.
        let nearest = steps
            .iter()
            .filter(|path| stem(path).starts_with(step))
            .map(|path| (path, read(path)))
            .map(|(path, right)| (path, missing(&code(shown(&right)), &copy), missing(&copy, &code(&right))))
            .min_by_key(|(_, gone, new)| gone.len() + new.len());
        let (right, gone, new) = nearest.expect("a step has kernels");
        assert!(
            (1..=MISTAKE).contains(&gone.len().max(new.len())),
            "{} is no longer {} with one mistake: copy it again, and put the mistake in\ngone: {gone:#?}\nnew: {new:#?}",
            path.display(),
            right.display(),
        );
    }
}
