//! The reply about a kernel.

use catalog::Shape;
use cuda::{Input, Message, Severity, Sources};
use judge::Request;
use serde::{Deserialize, Serialize};
use tasks::explain::Explained;
use tasks::{Task, Verdict, verdict};

use crate::committed::Committed;
use crate::launch::{Launch, Launched};

/// A kernel that a reader runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// Name of the file, for messages.
    name: String,
    source: String,
    /// Headers: as `#include` names them, and their text.
    headers: Vec<(String, String)>,
    /// The task by which a learner's kernel is judged.
    task: Option<Task>,
    /// The PTX of a kernel of the ladder, which runs in place of the source's.
    committed: Option<Committed>,
    /// Sizes of the launch whose lines are counted: m, n and k.
    shape: [usize; 3],
    /// False for a run that counts lines and does not judge.
    #[serde(default = "yes")]
    judge: bool,
    /// Whether to judge on the first shape alone, which takes a fraction of the time.
    #[serde(default)]
    first: bool,
    /// The reader's own launch, which is not judged.
    launch: Option<Launch>,
    /// True for a run whose reply is the steps of a block alone.
    #[serde(default)]
    follow: bool,
}

fn yes() -> bool {
    true
}

#[derive(Default, Serialize)]
struct Reply {
    /// The compiler's messages about the source.
    messages: Vec<Located>,
    /// None for a source that does not compile.
    verdict: Option<Verdict>,
    /// Whether the other shapes may change the verdict, which is that of the first one.
    is_partial: bool,
    /// Counts of one launch; none for a kernel that is not launched.
    explained: Option<Explained>,
    /// Wrong elements of that launch.
    map: Option<WrongElements>,
    /// Outcome of the reader's own launch.
    launched: Option<Launched>,
    /// Steps of a block, as the stepper of the book unpacks them.
    followed: Option<serde_json::Value>,
    /// The reason why a request is refused.
    error: Option<String>,
}

/// A message of the compiler. Columns are bytes from 1, and `end` is the one after the last, on the same line.
#[derive(Serialize)]
struct Located {
    severity: &'static str,
    file: String,
    line: u32,
    column: u32,
    end: u32,
    text: String,
    label: String,
    help: Option<String>,
}

#[derive(Serialize)]
struct WrongElements {
    rows: usize,
    columns: usize,
    /// Indices into the output, row by row.
    wrong: Vec<usize>,
}

/// Compiles, judges and counts the kernel of a request. Every error is in the reply.
pub fn reply(request: &str) -> String {
    let reply = match serde_json::from_str(request) {
        Ok(run) => run_kernel(&run),
        Err(error) => failed(format!("the request is not understood: {error}")),
    };
    serde_json::to_string(&reply).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

fn failed(error: String) -> Reply {
    Reply { error: Some(error), ..Reply::default() }
}

/// Largest number of multiply-adds of the counted launch.
const MAX_VOLUME: f64 = 256.0 * 256.0 * 256.0;

/// Thread-instructions of a launch: many times what a kernel needs for that, and some seconds.
const MAX_INSTRUCTIONS: u64 = 1 << 30;

fn run_kernel(run: &Run) -> Reply {
    let [m, n, k] = run.shape;
    let is_transpose = run.task.as_ref().is_some_and(|task| task.work.is_transpose());
    let shape = Shape { m, n, k: if is_transpose { 0 } else { k } };
    if [m, n, k].contains(&0) || shape.volume() > MAX_VOLUME {
        return failed(format!("{shape} is not between 1 and 256 x 256 x 256 multiply-adds"));
    }
    match (&run.task, &run.committed) {
        (None, Some(_)) if cfg!(feature = "scalar") => failed("tensor.js runs committed kernels".to_owned()),
        (Some(task), None) => compiled(run, task, shape),
        (None, Some(kernel)) => committed(run, kernel, shape).unwrap_or_else(failed),
        _ => failed("a request has a task or a committed kernel".to_owned()),
    }
}

/// Compiles a learner's kernel, judges it and counts its lines.
fn compiled(run: &Run, task: &Task, shape: Shape) -> Reply {
    if task.host.is_some() || task.is_rust {
        return failed(format!("{} is not a kernel in CUDA C++; check it with: cargo xtask check {0}", task.name));
    }
    let compiled = match cuda::compile(&Input { name: &run.name, text: &run.source, headers: &run.headers }) {
        Ok(compiled) => compiled,
        Err((messages, sources)) => return Reply { messages: located(&messages, &sources), ..Reply::default() },
    };
    let messages = located(&compiled.warnings, &compiled.sources);
    let sources: Vec<(String, String)> =
        compiled.sources.files.into_iter().map(|file| (file.name, file.text)).collect();
    let ptx = compiled.module.to_string();
    let request = request(task, &ptx, &sources);
    if run.follow {
        return match judge::steps::follow(&request) {
            Ok(followed) => Reply { messages, followed: Some(followed), ..Reply::default() },
            Err(why) => failed(why),
        };
    }
    if let Some(launch) = &run.launch {
        return match launch.run(&compiled.module, &request) {
            Ok(launched) => Reply { messages, launched: Some(launched), ..Reply::default() },
            Err(why) => failed(why),
        };
    }
    let shapes = judge::shapes::shapes_for(task, request.seed, request.shapes);
    let n_judged = if run.first { 1 } else { shapes.len() };
    let verdict = run.judge.then(|| judge::judge_on(&request, &shapes[..n_judged.min(shapes.len())]));
    // A mistake that the checks find ends a judgement on any number of shapes.
    let is_final = |verdict: &Verdict| verdict.findings.iter().any(|found| found.severity == verdict::Severity::Error);
    let is_partial = run.first && verdict.as_ref().is_some_and(|verdict| !is_final(verdict));
    Reply { messages, is_partial, ..counted(&request, verdict, shape) }
}

/// Runs a committed kernel on one shape, with all checks, and counts its lines.
fn committed(run: &Run, kernel: &Committed, shape: Shape) -> Result<Reply, String> {
    let task = kernel.task(shape)?;
    let sources: Vec<(String, String)> =
        std::iter::once((run.name.clone(), run.source.clone())).chain(run.headers.iter().cloned()).collect();
    let request = Request { setup: Some(kernel.setup()), ..request(&task, &kernel.ptx, &sources) };
    let verdict = run.judge.then(|| judge::judge_on(&request, &[shape]));
    Ok(counted(&request, verdict, shape))
}

fn request<'a>(task: &'a Task, ptx: &'a str, sources: &'a [(String, String)]) -> Request<'a> {
    Request { max_instructions: MAX_INSTRUCTIONS, ..Request::new(task, ptx, sources) }
}

/// Returns the reply with the counts of one launch.
fn counted(request: &Request<'_>, verdict: Option<Verdict>, shape: Shape) -> Reply {
    // A kernel that cannot be launched has a verdict that says so; one without an end takes long enough once.
    let is_endless = verdict.as_ref().is_some_and(|verdict| verdict.code.as_deref() == Some("E-LOOP"));
    let launched = if is_endless { None } else { judge::explain::explain_on(request, shape).ok() };
    let (explained, wrong) = launched.unzip();
    let map = wrong.map(|wrong| WrongElements { rows: shape.m, columns: shape.n, wrong });
    Reply { verdict, explained, map, ..Reply::default() }
}

fn located(messages: &[Message], sources: &Sources) -> Vec<Located> {
    let located = |message: &Message| {
        let place = sources.place(message.span);
        let file = &sources.files[usize::from(place.file)];
        let length = message.span.end.saturating_sub(message.span.start).max(1);
        let end_of_line = file.line(place.line).len() as u32 + 1;
        Located {
            severity: match message.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Unsupported => "unsupported",
            },
            file: file.name.clone(),
            line: place.line,
            column: place.column,
            end: (place.column + length).min(end_of_line.max(place.column + 1)),
            text: message.text.clone(),
            label: message.label.clone(),
            help: message.help.clone(),
        }
    };
    messages.iter().map(located).collect()
}
