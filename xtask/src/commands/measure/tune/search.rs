//! `cargo xtask tune v11 --search`: compiles the plans that the step lists, and asks it what they would take, whether
//! they are right, and on a GPU what they take.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use catalog::{Step, files::write_whole_bytes, parallel};
use serde::Deserialize;
use xtask_support::nvrtc::{DoesNotCompile, Nvrtc};
use xtask_support::output::{self, Status};
use xtask_support::programs::Programs;
use xtask_support::source::{self, CompileJob};
use xtask_support::{
    compile_cache,
    compiler::Compilers,
    cubin::{resources, without_ptx},
    interrupt,
};

use super::Args;

/// The architecture that plans are compiled for.
const GPU: &str = "90a";

/// Predictions of the last whole search.
const FORECASTS: &str = "steps/v11/data/forecasts.tsv";

#[derive(Deserialize)]
struct Candidate {
    name: String,
    /// Source of its warps that multiply.
    multipliers: String,
    kernel: String,
}

/// A compiled source: the path without its ending.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Made {
    Files(PathBuf),
    /// Why ptxas or the compiler refuses it.
    Refused(String),
}

/// A search with its options, and the folder of the checkout.
pub(crate) struct Search<'a> {
    pub(crate) root: &'a Path,
    pub(crate) programs: &'a Programs,
    pub(crate) step: &'static Step,
    pub(crate) args: &'a Args,
}

impl Search<'_> {
    /// Searches, and returns what was timed, if anything was.
    pub(crate) fn run(&self) -> Result<String> {
        let candidates: Vec<Candidate> = self.query(&["candidates"])?;
        let texts: Vec<&str> = candidates.iter().map(|candidate| &*candidate.multipliers).collect();
        let half = self.args.seconds / 2;
        let until = Instant::now() + Duration::from_secs(half);
        let made = self.compile(&texts, Some(until))?;
        let reached: Vec<_> = candidates.iter().zip(&made).filter(|(_, made)| made.is_some()).collect();
        let fits: Vec<(&str, PathBuf)> = reached
            .iter()
            .filter_map(|(candidate, made)| Some((&*candidate.name, made.as_ref()?.file("cubin")?)))
            .collect();
        output::note(&format!(
            "compiled the multipliers of {} of {}, the most promising first, in at most {half} s; {} spill no registers",
            reached.len(),
            candidates.len(),
            fits.len()
        ));
        let list = self.write_list("multipliers", &fits)?;
        let predicted = self.text(&["predict", &list, &half.to_string()])?;
        let file = self.folder().join("forecasts.tsv");
        write_whole_bytes(&file, predicted.as_bytes())?;
        let right = self.right(&candidates, &file)?;
        let forecasts = file.to_string_lossy();
        if self.args.save {
            write_whole_bytes(&self.root.join(FORECASTS), &std::fs::read(&file)?)?;
            output::note(&format!("wrote {FORECASTS}"));
        }
        output::print(&self.text(&["page", &forecasts])?)?;
        let (right, times) = (self.write_list("right", &right)?, self.folder().join("times.tsv"));
        self.text(&["time", &right, &forecasts, &times.to_string_lossy()])
    }

    /// Returns the best plans of each class with their machine code. Plans whose code spills or that multiply wrong are
    /// refused, which is noted in the file of forecasts, and others come in their place.
    fn right(&self, candidates: &[Candidate], file: &Path) -> Result<Vec<(String, PathBuf)>> {
        let kernels: BTreeMap<&str, &str> =
            candidates.iter().map(|candidate| (&*candidate.name, &*candidate.kernel)).collect();
        let mut right: BTreeMap<String, PathBuf> = BTreeMap::new();
        loop {
            let best: Vec<String> = self.query(&["best", &file.to_string_lossy(), &self.args.most.to_string()])?;
            let new: Vec<&String> = best.iter().filter(|name| !right.contains_key(*name)).collect();
            if new.is_empty() {
                let found = |name: String| right.remove(&name).map(|cubin| (name, cubin));
                return Ok(best.into_iter().filter_map(found).collect());
            }
            let texts: Vec<&str> = new.iter().filter_map(|name| kernels.get(name.as_str()).copied()).collect();
            let (mut whole, mut refused) = (Vec::new(), BTreeMap::new());
            for (name, made) in new.iter().zip(self.compile(&texts, None)?) {
                match made {
                    Some(Made::Files(base)) => whole.push((name.as_str(), base.with_extension("ptx"))),
                    Some(Made::Refused(why)) => drop(refused.insert(name.as_str(), why)),
                    None => {}
                }
            }
            let verified: Vec<String> = self.query(&["verify", &self.write_list("kernels", &whole)?])?;
            for (name, ptx) in whole {
                if verified.iter().any(|other| other == name) {
                    drop(right.insert(name.to_owned(), ptx.with_extension("cubin")))
                } else {
                    drop(refused.insert(name, "multiplies wrong".into()))
                }
            }
            for (name, why) in &refused {
                output::note(&format!("{name} is refused: {why}"));
            }
            let text = without(&std::fs::read_to_string(file)?, &refused);
            write_whole_bytes(file, text.as_bytes())?;
        }
    }

    fn folder(&self) -> PathBuf {
        self.root.join("target/tune")
    }

    /// Names with their files, for the step.
    fn write_list(&self, name: &str, files: &[(impl serde::Serialize, PathBuf)]) -> Result<String> {
        let path = self.folder().join(name).with_extension("json");
        write_whole_bytes(&path, serde_json::to_string(files)?.as_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
        Ok(path.to_string_lossy().into_owned())
    }

    fn text(&self, words: &[&str]) -> Result<String> {
        let words: Vec<String> = ["search"].iter().chain(words).map(|word| (*word).to_owned()).collect();
        let text = self.programs.output_of(self.step, &words);
        interrupt::check("what was compiled is kept in target/tune")?;
        text
    }

    fn query<T: serde::de::DeserializeOwned>(&self, words: &[&str]) -> Result<T> {
        serde_json::from_str(&self.text(words)?).context("the answer of the step cannot be read")
    }

    /// Compiles sources in their order, several at a time, and keeps what comes out. `None` where the time is up.
    fn compile(&self, texts: &[&str], until: Option<Instant>) -> Result<Vec<Option<Made>>> {
        let (compilers, status) = (Compilers::new(Nvrtc::find()?), Status::on_stderr());
        let n = AtomicUsize::new(0);
        let compile = |text: &&str| {
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            interrupt::check("what was compiled is kept in target/tune")?;
            let made = self.compile_one(text, &compilers)?;
            status.set(&format!("compiled {} of {}", n.fetch_add(1, Ordering::Relaxed) + 1, texts.len()));
            Ok(Some(made))
        };
        parallel::run(texts, usize::MAX, compile, Result::is_ok).into_iter().collect()
    }

    fn compile_one(&self, text: &str, compilers: &Compilers) -> Result<Made> {
        let path = self.root.join("kernels/candidate.cu");
        let job = CompileJob::of_text(self.root, &path, text.to_owned());
        let includes = source::local_includes(self.root, &path, text)?;
        let key = compile_cache::key(&job, &includes, &format!("{}\nsm_{GPU}", compile_cache::NVRTC))?;
        let base = self.folder().join(key);
        let log = match std::fs::read_to_string(base.with_extension("log")) {
            Ok(log) => log,
            Err(_) => {
                let compiled = compilers.lend(|compiler| job.compile_for(GPU, &includes, compiler, self.root));
                let log = match compiled {
                    Ok(compiled) => {
                        write_whole_bytes(&base.with_extension("ptx"), compiled.ptx.as_bytes())?;
                        write_whole_bytes(&base.with_extension("cubin"), &without_ptx(compiled.cubin)?)?;
                        compiled.log
                    }
                    Err(error) => match error.downcast::<DoesNotCompile>() {
                        Ok(DoesNotCompile(log)) => log,
                        Err(other) => return Err(other),
                    },
                };
                // Last: what has a log is whole.
                write_whole_bytes(&base.with_extension("log"), log.as_bytes())?;
                log
            }
        };
        Ok(verdict(&log).map_or(Made::Files(base), Made::Refused))
    }
}

impl Made {
    fn file(&self, ending: &str) -> Option<PathBuf> {
        match self {
            Made::Files(base) => Some(base.with_extension(ending)),
            Made::Refused(_) => None,
        }
    }
}

/// Returns the lines of forecasts, with the reason in place of the forecast for plans that are refused.
fn without(forecasts: &str, refused: &BTreeMap<&str, String>) -> String {
    let line = |line: &str| {
        let name = line.split('\t').next().unwrap_or_default();
        match refused.get(name) {
            Some(why) => format!("{name}\trefused\t{why}\n"),
            None => format!("{line}\n"),
        }
    };
    forecasts.lines().map(line).collect()
}

/// Returns why a kernel is refused, by the compiler's output: it does not compile, or it spills.
fn verdict(log: &str) -> Option<String> {
    let found = resources(log);
    let Some(kernel) = found.first() else {
        let first = log.lines().find(|line| line.contains("error")).unwrap_or("it does not compile");
        return Some(first.trim().to_owned());
    };
    let is_whole = kernel.ends_with(" 0 bytes spilled");
    (!is_whole).then(|| kernel.split_once(": ").map_or(kernel.clone(), |(_, rest)| rest.to_owned()))
}
