//! The built-in compiler, `emulator/cuda`: it needs no download, and says in a learner's words what is wrong.

use std::path::Path;

use anyhow::Result;
use cuda::{Input, Message, Severity, Sources};
use xtask_support::paths;
use xtask_support::source::{CompileJob, Include, read_source};

/// Note of a verdict on a kernel that it compiled.
pub(crate) const NOTE: &str = "compiled by the built-in compiler: its numbers of instructions differ from NVIDIA's, \
    other counts do not (cargo xtask setup gets NVIDIA's compiler)";

/// PTX of a source, or the reason why there is none.
pub struct BuiltIn {
    pub ptx: Result<String, Refused>,
    /// Places where a source probably does not do what is meant.
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug)]
pub enum Refused {
    /// The source is wrong: the log.
    Wrong(String),
    /// Another compiler may know it: the log.
    Unknown(String),
}

impl Refused {
    pub fn log(self) -> String {
        let (Self::Wrong(log) | Self::Unknown(log)) = self;
        log
    }
}

/// Compiles a source, with the headers that it includes.
pub fn compile(root: &Path, job: &CompileJob, includes: &[Include]) -> Result<BuiltIn> {
    let header = |include: &Include| Ok((include.written.clone(), read_source(&include.path)?));
    let headers: Vec<(String, String)> = includes.iter().map(header).collect::<Result<_>>()?;
    // Names of headers, as seen from the root.
    let name = |name: &mut String| {
        if let Some(include) = includes.iter().find(|include| include.written == *name) {
            *name = paths::from_root(root, &include.path);
        }
    };
    Ok(match cuda::compile(&Input { name: &job.name, text: &job.source, headers: &headers }) {
        Ok(mut compiled) => {
            compiled.module.files.iter_mut().for_each(|file| name(&mut file.path));
            compiled.sources.files.iter_mut().for_each(|file| name(&mut file.name));
            let warnings = warnings(&compiled.warnings, &compiled.sources);
            BuiltIn { ptx: Ok(compiled.module.to_string()), warnings }
        }
        Err((messages, mut sources)) => {
            sources.files.iter_mut().for_each(|file| name(&mut file.name));
            let log = |severity| {
                let of = messages.iter().filter(|message| message.severity == severity);
                of.map(|message| cuda::render::render(message, &sources) + "\n").collect::<String>()
            };
            let (wrong, unknown) = (log(Severity::Error), log(Severity::Unsupported));
            let ptx = Err(if unknown.is_empty() { Refused::Wrong(wrong) } else { Refused::Unknown(unknown) });
            BuiltIn { ptx, warnings: warnings(&messages, &sources) }
        }
    })
}

/// Returns warnings as notes: `my/v02.cu:12: this condition assigns, and does not compare; `==` compares`.
fn warnings(messages: &[Message], sources: &Sources) -> Vec<String> {
    let note = |message: &Message| {
        let place = sources.place(message.span);
        let file = &sources.files[usize::from(place.file)].name;
        let help = message.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{file}:{}: {}{help}", place.line, message.text)
    };
    messages.iter().filter(|message| message.severity == Severity::Warning).map(note).collect()
}
