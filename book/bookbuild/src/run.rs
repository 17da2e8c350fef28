//! Kernels that a reader runs and edits in the page: their sources, tasks and small edits, for `theme/run.js`; and
//! those that run as committed PTX.
//!
//! A page has only the name of a run; the sources are in a script of their own, loaded with the module, and each PTX in
//! another. A book that is built without the modules (`cargo xtask page` makes them) has none of this.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use catalog::provenance;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tasks::{Catalogue, Task, committed::Listed, starter, task};

use crate::checks::ptx;
use crate::directives::listings::{self, Numbered};
use crate::directives::tasks::{RUNNABLE_STEPS, is_runnable};
use crate::kernel_args::find_kernel;
use crate::{RepoPaths, highlight};

/// `book/run.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    kernel: Vec<Kernel>,
    edit: Vec<Edit>,
    launch: Vec<OtherLaunch>,
    /// M, N and K of committed kernels, which their grids fit.
    committed_sizes: [usize; 3],
    committed: Vec<Listed>,
}

/// A kernel that no task is about, and its launch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    file: String,
    /// The kernel, where there is no such file.
    text: Option<String>,
    /// A task of the same computation.
    like: String,
    entry: String,
    tile: [u32; 2],
    block: [u32; 3],
    #[serde(default)]
    down: bool,
}

/// A small edit of a kernel that a reader makes with one press.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    #[serde(skip_serializing)]
    file: String,
    label: String,
    /// Text that stands once in the file, and its replacement.
    find: String,
    replace: String,
}

/// Another kernel of a file, with its launch, that a reader runs with one press.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct OtherLaunch {
    #[serde(skip_serializing)]
    file: String,
    #[serde(skip_serializing)]
    label: String,
    entry: String,
    tile: [u32; 2],
    block: [u32; 3],
}

/// A kernel that runs as committed PTX, as a request of the module describes it.
#[derive(Serialize)]
struct Committed {
    #[serde(flatten)]
    kernel: Listed,
    ptx: String,
}

#[derive(Serialize)]
struct Run {
    #[serde(skip)]
    file: String,
    /// Name of the learner's file.
    name: String,
    source: String,
    /// Numbers of the file's lines that `source` lacks, such as those of anchors.
    gone: Vec<usize>,
    task: String,
    edits: Vec<Edit>,
    /// Labels of other launches, and the fields of the task that they replace.
    launches: Vec<(String, OtherLaunch)>,
}

#[derive(Default, Serialize)]
pub(crate) struct Runs {
    runs: BTreeMap<String, Run>,
    tasks: BTreeMap<String, Task>,
    #[serde(skip)]
    committed: BTreeMap<String, Committed>,
    #[serde(skip)]
    committed_sizes: [usize; 3],
}

/// A run of the buttons below a listing.
pub(crate) struct Runnable<'a> {
    /// Name of the run.
    pub(crate) key: &'a str,
    /// The kernel and its sizes, if it runs as committed PTX.
    pub(crate) committed: Option<(&'a str, [usize; 3])>,
}

fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn numbered(text: &str) -> Vec<Numbered> {
    text.lines().enumerate().map(|(at, text)| Numbered { number: at + 1, text: text.to_owned() }).collect()
}

impl Runs {
    /// Reads the runs of a book that is built with the module; no runs for another.
    pub(crate) fn load(repo: &RepoPaths) -> Result<Self> {
        if repo.page_modules().is_some() { Self::of_book(repo) } else { Ok(Self::default()) }
    }

    fn of_book(repo: &RepoPaths) -> Result<Self> {
        let mut out = Self::default();
        let settings = repo.read(&repo.book().join("run.toml"))?;
        let settings: Settings = toml::from_str(&settings).context("book/run.toml")?;
        for step in RUNNABLE_STEPS {
            repo.note(&repo.root().join(task::file_of(step)));
            for task in Catalogue::load(repo.root(), step)?.tasks.into_iter().filter(is_runnable) {
                let name = task.name.to_string();
                let path = repo.root().join(&task.solution);
                let solution = repo.read(&path)?;
                out.add(format!("{name}.start"), String::new(), numbered(&starter::starter(&task, &solution)), &task);
                if task.name.id.is_none() {
                    let file = task.solution.display().to_string();
                    out.add(name.clone(), file, listings::listing(repo, &path, None)?, &task);
                }
                out.tasks.insert(name, Task { text: String::new(), ..task });
            }
        }
        for Kernel { file, text, like, entry, tile, block, down } in settings.kernel {
            let path = repo.root().join(&file);
            let like = out.tasks.get(&like).with_context(|| format!("book/run.toml: there is no task `{like}`"))?;
            let name = file_stem(&path);
            let task = Task { entry, tile, block, down, criteria: Vec::new(), hints: Vec::new(), ..like.clone() };
            let lines = match text {
                Some(text) => numbered(&text),
                None => listings::listing(repo, &path, None)?,
            };
            out.add(name.clone(), file, lines, &task);
            out.runs.entry(name.clone()).and_modify(|run| run.task.clone_from(&name));
            out.tasks.insert(name, task);
        }
        for edit in settings.edit {
            let run = out.runs.values_mut().find(|run| run.file == edit.file);
            let run = run.with_context(|| format!("book/run.toml: {} cannot be run in the page", edit.file))?;
            let n = run.source.matches(&edit.find).count();
            ensure!(n == 1, "book/run.toml: the edit `{}` finds its text {n} times in {}", edit.label, edit.file);
            run.edits.push(edit);
        }
        for launch in settings.launch {
            let run = out.runs.values_mut().find(|run| run.file == launch.file && run.source.contains(&launch.entry));
            let run = run.with_context(|| format!("book/run.toml: {} has no kernel {}", launch.file, launch.entry))?;
            run.launches.push((launch.label.clone(), launch));
        }
        out.committed_sizes = settings.committed_sizes;
        for kernel in settings.committed {
            let (_, known) = find_kernel(&kernel.entry).context("book/run.toml")?;
            let (_, all) = ptx::of_kernel(repo, known)?;
            let ptx = provenance::with_only(&[known.name], &all);
            out.committed.insert(file_stem(Path::new(&kernel.listing)), Committed { kernel, ptx });
        }
        Ok(out)
    }

    fn add(&mut self, key: String, file: String, lines: Vec<Numbered>, task: &Task) {
        let last = lines.last().map_or(0, |line| line.number);
        let gone = (1..=last).filter(|number| lines.iter().all(|line| line.number != *number)).collect();
        let source = listings::text(&lines) + "\n";
        let name = format!("{}.cu", key.trim_end_matches(".start"));
        let task = task.name.to_string();
        self.runs.insert(key, Run { file, name, source, gone, task, edits: Vec::new(), launches: Vec::new() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns what runs below a listing of a file.
    pub(crate) fn of_file(&self, file: &str) -> Option<Runnable<'_>> {
        let run = self.runs.iter().find(|(_, run)| run.file == file);
        let run = run.map(|(key, _)| Runnable { key, committed: None });
        let committed = || self.committed.iter().find(|(_, run)| run.kernel.listing == file);
        run.or_else(|| {
            committed().map(|(key, run)| Runnable { key, committed: Some((&run.kernel.entry, self.committed_sizes)) })
        })
    }

    /// Writes the scripts that pages load, if any page has a run.
    pub(crate) fn write(&self, repo: &RepoPaths, folder: &Path) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let folder = folder.join("run");
        std::fs::create_dir_all(&folder)?;
        let header = repo.read(&repo.root().join("kernels/common.cuh"))?;
        let sources = json!({
            "runs": self.runs, "tasks": self.tasks, "headers": [["common.cuh", header]], "words": highlight::cuda_words()
        });
        std::fs::write(folder.join("sources.js"), format!("self.tileSources = {sources};\n"))?;
        for name in ["run.js", "run.css", "kernels.js", "pictures.js", "playground.js"] {
            std::fs::write(folder.join(name), repo.read(&repo.book().join("theme").join(name))?)?;
        }
        for (name, run) in &self.committed {
            let listing = &run.kernel.listing;
            let source = repo.read(&repo.root().join(listing))?;
            let request = json!({
                "name": listing, "source": source, "headers": [], "shape": self.committed_sizes, "committed": run,
            });
            let script = format!("(self.tileCommitted ||= {{}})[\"{name}\"] = {request};\n");
            std::fs::write(folder.join(name).with_extension("js"), script)?;
        }
        for module in repo.page_modules().iter().flatten() {
            std::fs::copy(module, folder.join(module.file_name().unwrap_or_default())).context("copying a module")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Runs;
    use crate::RepoPaths;

    #[test]
    fn every_small_edit_finds_its_text_once() {
        let repo = RepoPaths::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let runs = Runs::of_book(&repo).unwrap_or_else(|why| panic!("{why:#}"));
        let edited = |run: &super::Run| !run.edits.is_empty();
        assert!(runs.runs.values().filter(|run| edited(run)).count() > 2);
        assert!(runs.of_file("kernels/v02_shared.cu").is_some_and(|run| run.key == "v02" && run.committed.is_none()));
        let ring = runs.of_file("kernels/v12_ring.cuh").expect("a run");
        assert_eq!((ring.key, ring.committed), ("v12_ring", Some(("gemm_v12_ring_f32", [96, 96, 64]))));
        assert!(runs.runs["v02.start"].source.contains("TODO"));
        assert!(!runs.runs.contains_key("v02.rect"), "a transfer task shows its solution");
    }
}
