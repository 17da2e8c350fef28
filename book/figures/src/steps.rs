//! Data of the stepper: the steps of all warps of a block of a real kernel. A script for each chapter, `steps-v02.js`,
//! contains them, as `stepper` packs them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::{Context as _, Error, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use stepper::{Followed, PageStep, Tile, Traced};

use crate::machine;

/// A kernel that a page replays step by step: an entry of `book/figures/steps.toml`.
#[derive(Debug, Deserialize)]
pub(crate) struct Subject {
    pub(crate) page: String,
    label: String,
    name: String,
    shape: [usize; 3],
    #[serde(default)]
    tiles: Vec<[u32; 3]>,
    body: Option<[String; 3]>,
}

const TILES: [&str; 2] = ["a_tile", "b_tile"];

pub(crate) fn subjects() -> anyhow::Result<Vec<Subject>> {
    const FILE: &str = "book/figures/steps.toml";
    let mut all: BTreeMap<String, Vec<Subject>> = toml::from_str(&machine::read(FILE)?).context(FILE)?;
    all.remove("kernel").context(FILE)
}

impl Subject {
    /// Returns a file, and the kernel's body in it with line numbers, without marker lines for starters and includes.
    fn source(&self) -> anyhow::Result<(String, Vec<(u32, String)>)> {
        const MARKS: [&str; 3] = ["// ANCHOR", "// SOLUTION", "// STARTER"];
        let own = [format!("kernels/{}.cu", machine::source_of(&self.name)?), "kernel".into(), "kernel".into()];
        let [name, first, last] = self.body.as_ref().unwrap_or(&own);
        let [first, last] = [first, last].map(|anchor| format!("// ANCHOR: {anchor}"));
        let text = machine::read(name)?;
        let mut shown = Vec::new();
        let mut is_last = false;
        for (line, number) in text.lines().zip(1u32..).skip_while(|(line, _)| *line != first) {
            is_last |= line == last;
            if !MARKS.iter().any(|mark| line.trim_start().starts_with(mark)) {
                shown.push((number, line.to_owned()));
            }
            if is_last && line == "}" {
                return Ok((name.clone(), shown));
            }
        }
        bail!("{name} has no end of its kernel")
    }
    /// Runs the kernel, and returns what `show` makes of the steps of its first block.
    fn follow<T>(&self, show: impl FnOnce(&Followed<'_>) -> Result<T, String>) -> anyhow::Result<T> {
        let (file, source) = self.source()?;
        let tiles = TILES.into_iter().zip(&self.tiles);
        let subject = stepper::Subject {
            label: self.label.clone(),
            file,
            source,
            shape: self.shape,
            element_bytes: machine::element_bytes(&self.name)?,
            tiles: tiles.map(|(name, dims)| Tile { name: name.into(), symbol: name.into(), dims: *dims }).collect(),
        };
        let trace = machine::block(&self.name, self.shape)?;
        let (kernel, files) = (trace.kernel(), trace.files());
        let block = Traced { kernel, files, buffers: &trace.buffers, steps: &trace.steps };
        let shown = Followed::new(&subject, &block);
        shown.and_then(|followed| show(&followed)).map_err(Error::msg).with_context(|| self.label.clone())
    }
}

/// Returns the trace that a page must unpack, and for each warp its totals: `[requests, sectors, requests to tiles,
/// wavefronts, excess wavefronts, multiply-adds, sum of all elements times the number of their lane from 1]`.
pub(crate) fn counted(subject: &Subject) -> anyhow::Result<(Value, Value)> {
    let (mut packed, sums) = subject.follow(|followed| Ok((followed.pack()?, sums(followed))))?;
    for unused in ["source", "texts"] {
        packed[unused] = json!([]);
    }
    Ok((packed, sums))
}

fn sums(followed: &Followed<'_>) -> Value {
    let sums = |steps: &Vec<PageStep>| {
        let mut sums = [0; 7];
        for step in steps {
            sums[5] += step.fmas();
            let Some(reach) = step.reach() else { continue };
            let at = if reach.array < 3 { 0 } else { 2 };
            sums[at] += 1;
            let [cost, excess] = reach.costs();
            sums[at + 1] += u64::from(cost);
            sums[4] += u64::from(excess);
            sums[6] += (1..).zip(reach.elements).filter_map(|(lane, element)| Some(lane * element?)).sum::<u64>();
        }
        sums
    };
    json!([followed.warps.iter().map(sums).collect::<Vec<_>>(), followed.order])
}

/// Returns the names and texts of the scripts with the steps of each chapter's kernels.
///
/// # Errors
/// Returns an error if a kernel's files cannot be read, or a kernel does something that a page cannot show.
pub fn steps_js() -> anyhow::Result<BTreeMap<String, String>> {
    let mut scripts = BTreeMap::new();
    for subject in subjects()? {
        let key = &subject.page;
        let packed = subject.follow(|followed| followed.pack())?;
        let head = format!(
            "// made by: cargo run -p figures -- write; what each warp did on the emulated GPU\n\
             ((window.TileSteps ||= {{}}).{key} ||= []).push(\n"
        );
        let text: &mut String = scripts.entry(format!("steps-{key}.js")).or_default();
        text.push_str(if text.is_empty() { &head } else { "" });
        text.push_str(&format!("{packed},\n"));
    }
    scripts.values_mut().for_each(|text| text.push_str(");\n"));
    Ok(scripts)
}
