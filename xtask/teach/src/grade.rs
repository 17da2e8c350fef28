//! `cargo xtask grade`: grades the submissions of a class; `grader` does the work.
//!
//! Two hidden commands run inside the sandbox: `confined` sets limits and becomes another program, `compile-one`
//! compiles one source.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow, bail};
use catalog::files::{MAX_TEXT_BYTES, files_ending_with, read_limited, read_text, with_suffix, write_whole};
use catalog::text::{Paint, Table};
use grader::grade::{ClassGrades, Grading, GradingError};
use grader::points::{self, GivenPoints};
use grader::sandbox::{self, Launcher, Sandbox};
use grader::unit::{CompilerAnswer, CompilerProgram, TaskLimits, Tools};
use grader::{roster, rubric::Rubric};
use tasks::{Task, TaskName, shown};
use xtask::rustc::{Rustc, Stopped};
use xtask::{built_in, commands::teach::Grade, learner};
use xtask_support::CommandOutcome;
use xtask_support::nvrtc::{DoesNotCompile, LoadedNvrtc, Nvrtc};
use xtask_support::output::{self, Status, Stop};
use xtask_support::source::{CompileJob, local_includes};
use xtask_support::{interrupt, paths, programs};

/// Variable with the path of the program `judge`, for the jobs of a cluster.
const JUDGE: &str = "TILE_JUDGE";

/// Grades, and shows the class.
pub(crate) fn run(args: &Grade) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let named = |path: &PathBuf| -> Result<(String, String)> {
        let name = path.display().to_string();
        Ok((read_text(path).with_context(|| name.clone())?, name))
    };
    let (text, name) = named(&args.rubric)?;
    let rubric = Rubric::parse(&text, &name, &root)?;
    if let Some(missing) = [&args.submissions].into_iter().chain(&args.against).find(|folder| !folder.is_dir()) {
        bail!("{} is not a folder", missing.display());
    }
    let people = match &args.roster {
        Some(path) => {
            let name = path.display().to_string();
            let bytes = read_limited(path, MAX_TEXT_BYTES).with_context(|| name.clone())?;
            let (people, notes) = roster::parse(bytes, &name)?;
            notes.iter().for_each(|note| output::note(note));
            Some(people)
        }
        None => None,
    };
    let given = match &args.points {
        Some(path) => named(path).and_then(|(text, name)| points::parse(&text, &name))?,
        None => GivenPoints::new(),
    };
    if lies_inside(&args.out, &args.submissions) {
        let (out, submissions) = (args.out.display(), args.submissions.display());
        bail!("--out {out} lies in {submissions}, where every folder is a student's: choose a folder outside of it");
    }
    interrupt::watch();
    let tools = tools(&root, &rubric)?;
    let sandbox = if args.no_sandbox { without_sandbox(&tools)? } else { sandbox(&tools)? };
    std::fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    if let Some(parts) = args.slurm {
        return slurm(args, &root, &tools, parts);
    }
    let starters = starters(&root, &rubric);
    let finished = finished(&root, &rubric);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let grading = Grading {
        submissions: &args.submissions,
        rubric: &rubric,
        out: &args.out,
        jobs: args.jobs.unwrap_or_else(cores),
        tools: &tools,
        sandbox: &sandbox,
        limits: limits(args.limit),
        starters: &starters,
        finished: &finished,
        roster: people.as_deref(),
        given: &given,
        against: &args.against,
        moss: args.moss,
        anonymous: args.anonymous,
    };
    let bar = Bar::new();
    let on_progress = |done: usize, total: usize| {
        bar.show(done, total);
        !interrupt::happened()
    };
    let class = match args.part {
        Some((part, n_parts)) => {
            grader::grade::run_part(&grading, part, n_parts, &on_progress).map_err(stopped)?;
            return Ok(CommandOutcome::Passed);
        }
        None => grader::grade::run(&grading, &on_progress).map_err(stopped)?,
    };
    drop(bar);
    let files = grader::formats::write(&class, &args.out)?;
    if args.anonymous {
        let path = with_suffix(&args.out, ".codes.csv");
        write_whole(&path, &grader::formats::codes(&class)).with_context(|| path.display().to_string())?;
        output::note(&format!("{}: codes and names; keep it from those who are not to know them", path.display()));
    }
    if args.json {
        records(&class)?
    } else {
        output::print(&summary(&class, &files))?
    }
    let is_warned = class.students.iter().any(|student| !student.warnings.is_empty());
    Ok(if is_warned { CommandOutcome::Failed } else { CommandOutcome::Passed })
}

/// Returns whether a folder, which need not exist yet, is another one or lies in it.
fn lies_inside(inner: &Path, outer: &Path) -> bool {
    let known = std::path::absolute(inner)
        .ok()
        .and_then(|path| path.ancestors().find_map(|existing| existing.canonicalize().ok()));
    known.zip(outer.canonicalize().ok()).is_some_and(|(inner, outer)| inner.starts_with(outer))
}

/// Writes the scripts of a job array. The machines share the folders, the checkout and its programs.
fn slurm(args: &Grade, root: &Path, tools: &Tools, parts: usize) -> Result<CommandOutcome> {
    let whole = |path: &Path| -> Result<String> {
        let path = path.canonicalize().with_context(|| path.display().to_string())?;
        path.into_os_string()
            .into_string()
            .map_err(|path| anyhow!("{} is not text, which a script must be", path.to_string_lossy()))
    };
    let mut command = vec![
        whole(&std::env::current_exe()?)?,
        "grade".into(),
        whole(&args.submissions)?,
        "--rubric".into(),
        whole(&args.rubric)?,
        "--out".into(),
        whole(&args.out)?,
    ];
    for (option, file) in [("--roster", &args.roster), ("--points", &args.points)] {
        if let Some(file) = file {
            command.extend([option.into(), whole(file)?]);
        }
    }
    for folder in &args.against {
        command.extend(["--against".into(), whole(folder)?]);
    }
    let switches = [("--moss", args.moss), ("--anonymous", args.anonymous), ("--no-sandbox", args.no_sandbox)];
    command.extend(switches.iter().filter(|(_, is_on)| *is_on).map(|(option, _)| (*option).to_owned()));
    command.extend(args.limit.iter().flat_map(|limit| ["--limit".into(), limit.to_string()]));
    let mut variables: Vec<(String, String)> = vec![(JUDGE.into(), whole(&tools.judge)?)];
    if tools.cuda.is_some() {
        variables.push(match CompiledBy::chosen()? {
            CompiledBy::Nvrtc(nvrtc) => ("TILE_NVRTC".into(), whole(&nvrtc.directory)?),
            _ => (learner::COMPILER.into(), "built-in".into()),
        });
    }
    let scripts = PathBuf::from(whole(&args.out)?).join("slurm");
    std::fs::create_dir_all(&scripts).with_context(|| scripts.display().to_string())?;
    let jobs = grader::slurm::Jobs { command: &command, variables: &variables, folder: root, scripts: &scripts, parts };
    let files = [("part.sh", jobs.part()), ("reports.sh", jobs.reports()), ("submit.sh", jobs.submit())];
    for (name, text) in files {
        catalog::files::write_whole(&scripts.join(name), &text).with_context(|| name.to_owned())?;
    }
    output::print(&format!(
        "a job array of {parts} parts, and a job after it that writes the reports\nnext: sh {}\n",
        paths::display_path(&scripts.join("submit.sh"))
    ))?;
    Ok(CommandOutcome::Passed)
}

fn limits(limit: Option<u64>) -> TaskLimits {
    let mut limits = TaskLimits::default();
    if let Some(seconds) = limit {
        limits.compile.seconds = seconds;
        limits.judge.seconds = seconds;
    }
    limits
}

fn stopped(error: GradingError) -> anyhow::Error {
    match error {
        GradingError::Interrupted { done, total } => {
            Stop::Interrupted(format!("{done} of {total} results are kept; run the same command again to continue"))
                .into()
        }
        other => other.into(),
    }
}

/// Returns the first sandbox in which programs start: some systems do not let users make one.
fn sandbox(tools: &Tools) -> Result<Sandbox> {
    let mut refusals = Vec::new();
    match Sandbox::bubblewrap() {
        Ok(sandbox) => match probe(&sandbox, tools)? {
            Ok(()) => return Ok(sandbox),
            Err(words) => refusals.push(format!("bubblewrap does not work here: {words}")),
        },
        Err(why) => refusals.push(why.to_string()),
    }
    match probe(&Sandbox::Landlock, tools)? {
        Ok(()) if tools.cuda.iter().chain(&tools.rust).any(|compiler| compiler.needs_processes) => {
            refusals.push("rustc starts other programs, which Landlock's sandbox does not let it".into());
        }
        Ok(()) => {
            output::note(&format!("{}; the sandbox is Landlock and seccomp", refusals.join("; ")));
            return Ok(Sandbox::Landlock);
        }
        Err(words) => refusals.push(format!("Landlock and seccomp do not work here: {words}")),
    }
    bail!(
        "{}\nNothing is graded without a sandbox: a source that is compiled can read your files. To take that risk, as \
         in a container that holds nothing else: --no-sandbox",
        refusals.join("\n")
    )
}

fn without_sandbox(tools: &Tools) -> Result<Sandbox> {
    output::note(
        "without a sandbox: compiling a source can read any file that you can read, and what it prints of it is in the \
         results; time and memory are limited all the same",
    );
    match probe(&Sandbox::None, tools)? {
        Ok(()) => Ok(Sandbox::None),
        Err(words) => bail!("judge does not start: {words}"),
    }
}

/// Starts a program in the sandbox, and returns its last words if it fails.
fn probe(sandbox: &Sandbox, tools: &Tools) -> Result<Result<(), String>> {
    let ended = sandbox.run(
        &tools.launcher,
        &sandbox::Confined {
            program: &tools.judge,
            reads: &[],
            job: &std::env::temp_dir(),
            arguments: &["--version".into()],
            limits: TaskLimits::default().compile,
            has_scratch: false,
        },
    )?;
    if interrupt::happened() {
        bail!(Stop::Interrupted("nothing was graded".into()))
    }
    let words = grader::plain(ended.errors.trim());
    Ok(if ended.status.success() { Ok(()) } else { Err(format!("{words} ({})", ended.status).trim().to_owned()) })
}

/// Returns the programs that grading starts.
fn tools(root: &Path, rubric: &Rubric) -> Result<Tools> {
    let judge = programs::find_program("judge")?;
    let judge = judge.canonicalize().with_context(|| judge.display().to_string())?;
    let me = std::env::current_exe()?.canonicalize()?;
    let kernels = || rubric.tasks.iter().map(|graded| &graded.task).filter(|task| task.host.is_none());
    let cuda = kernels().any(|task| !task.is_rust).then(CompiledBy::chosen).transpose()?;
    let rust = || Rustc::find(root, None).map(CompiledBy::Rust);
    let rust = kernels().any(|task| task.is_rust).then(rust).transpose()?;
    let mut version = format!("{:x} {:x}", fingerprint(&judge)?, fingerprint(&me)?);
    for compiler in cuda.iter().chain(&rust) {
        version = format!("{} {version}", compiler.title()?);
    }
    let program = |compiler: Option<CompiledBy>| compiler.map(|compiler| compiler.program(&me)).transpose();
    let (cuda, rust) = (program(cuda)?, program(rust)?);
    let mut loaded = vec![me.clone(), judge.clone()];
    let reads = cuda.iter().chain(&rust).flat_map(|compiler| &compiler.reads);
    loaded.extend(reads.filter(|path| path.is_file()).cloned());
    let header = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, xtask_support::source::read_source(&path)?))
    };
    let headers = files_ending_with(&root.join("kernels"), ".cuh")?.into_iter().map(header).collect::<Result<_>>()?;
    let libraries = if cfg!(target_os = "linux") { sandbox::libraries(&loaded)? } else { BTreeSet::new() };
    Ok(Tools {
        launcher: Launcher { program: me, word: "confined".into(), libraries, interrupted: interrupt::happened },
        cuda,
        rust,
        judge,
        headers,
        version,
    })
}

/// The compiler of a grading.
enum CompiledBy {
    Nvrtc(Nvrtc),
    BuiltIn,
    Rust(Rustc),
}

impl CompiledBy {
    /// Chooses NVRTC; the built-in compiler only on request, because all submissions should have the same compiler.
    fn chosen() -> Result<Self> {
        if learner::choice()? == Some(learner::Choice::BuiltIn) {
            return Ok(Self::BuiltIn);
        }
        let mut nvrtc = Nvrtc::find()?;
        nvrtc.directory = nvrtc.directory.canonicalize()?;
        Ok(Self::Nvrtc(nvrtc))
    }

    /// Returns the files and folders that the compiler reads.
    fn reads(&self) -> Result<Vec<PathBuf>> {
        let nvrtc = match self {
            Self::BuiltIn => return Ok(Vec::new()),
            Self::Rust(rustc) => return rustc.files(),
            Self::Nvrtc(nvrtc) => nvrtc,
        };
        let mut reads: Vec<PathBuf> = std::fs::read_dir(&nvrtc.directory)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("libnvrtc") && name.contains(".so")
            })
            .collect();
        reads.sort();
        reads.extend(nvrtc.include.clone());
        Ok(reads)
    }

    /// Returns the command line of [`CompileArgs`], which `me` takes, up to the source.
    fn program(&self, me: &Path) -> Result<CompilerProgram> {
        let reads = self.reads()?;
        let (option, paths): (&str, &[PathBuf]) = match self {
            Self::Nvrtc(nvrtc) => ("--nvrtc", std::slice::from_ref(&nvrtc.directory)),
            Self::BuiltIn => ("--built-in", &[]),
            // Itself, and the folder with the prelude.
            Self::Rust(_) => ("--rustc", &reads[..2]),
        };
        let mut arguments: Vec<OsString> = vec!["compile-one".into(), option.into()];
        arguments.extend(paths.iter().map(OsString::from));
        let needs_processes = matches!(self, Self::Rust(_));
        Ok(CompilerProgram { program: me.to_owned(), arguments, reads, needs_processes })
    }

    /// Returns the part of a cache key that names the compiler.
    fn title(&self) -> Result<String> {
        match self {
            Self::Nvrtc(nvrtc) => Ok(nvrtc.title()),
            Self::BuiltIn => Ok("built-in".to_owned()),
            Self::Rust(rustc) => Ok(rustc.title()),
        }
    }
}

/// Returns a hash of a program, to notice that it was built again. Nobody tampers with our own programs, so a plain
/// hash of words does, which is quick in a debug build, too.
fn fingerprint(path: &Path) -> Result<u64> {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let mut hash = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME).rotate_left(23);
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    Ok(hash)
}

/// Returns the starters of the rubric's tasks by name, where they can be made.
fn starters(root: &Path, rubric: &Rubric) -> BTreeMap<String, String> {
    let tasks = rubric.tasks.iter().map(|graded| &graded.task);
    let names: Vec<&TaskName> = tasks.clone().map(|task| &task.name).collect();
    tasks
        .filter_map(|task| {
            let others: Vec<&TaskName> = names.iter().filter(|name| **name != &task.name).copied().collect();
            let text = shown::left_out(&learner::starter(root, task).ok()?, &task.shows, &others).ok()?;
            Some((task.name.to_string(), text))
        })
        .collect()
}

/// Returns the finished kernels of the rubric's tasks by name, those that a learner finds in the repository.
fn finished(root: &Path, rubric: &Rubric) -> BTreeMap<String, String> {
    let tasks = rubric.tasks.iter().map(|graded| &graded.task).filter(|task| task.host.is_none());
    let read = |task: &Task| Some((task.name.to_string(), std::fs::read_to_string(root.join(&task.solution)).ok()?));
    tasks.filter_map(read).collect()
}

/// Progress of a grading: a line that is redrawn on a terminal, some plain lines elsewhere.
struct Bar {
    status: Status,
    last: Mutex<Option<usize>>,
}

impl Bar {
    fn new() -> Self {
        Self { status: Status::on_stderr(), last: Mutex::new(None) }
    }

    fn show(&self, done: usize, total: usize) {
        const WIDTH: usize = 40;
        const LINES: usize = 10;
        let Ok(mut last) = self.last.lock() else { return };
        if self.status.is_on() {
            let full = WIDTH * done / total.max(1);
            self.status.set(&format!("grading [{}{}] {done} of {total}", "#".repeat(full), "-".repeat(WIDTH - full)));
            return;
        }
        let at = LINES * done / total.max(1);
        if last.is_none_or(|last| at > last) {
            *last = Some(at);
            output::note(&format!("graded {done} of {total} sources"));
        }
    }
}

fn summary(class: &ClassGrades, files: &[PathBuf]) -> String {
    /// One long name would make every row as long.
    const MAX_NAME_CHARS: usize = 40;
    let paint = Paint::for_stdout();
    let max = grader::score::format_points(class.max);
    let mut table = Table::new(["student", "points", "codes"]).left(1);
    for student in &class.students {
        let mut codes: Vec<String> = student.verdicts.iter().flat_map(tasks::Verdict::codes).collect();
        if student.is_ungraded() {
            codes.push("could not be graded".into());
        }
        table.row([
            grader::shortened(&student.name, MAX_NAME_CHARS),
            format!("{} of {max}", grader::score::format_points(student.points)),
            codes.join(" "),
        ]);
    }
    let mut out = table.render(paint);
    let n = class.students.len();
    let full = class.students.iter().filter(|student| student.points >= class.max - 1e-9).count();
    out.push_str(&format!("\n{n} students, {full} with all points\n"));
    for student in &class.students {
        let earlier = student.notes.iter().filter(|note| note.starts_with(roster::EARLIER));
        let warned = student.warnings.iter().map(|why| ("look at it by hand: ", why));
        for (what, why) in warned.chain(earlier.map(|note| ("", note))) {
            out.push_str(&format!("{}: {what}{}\n", student.name, grader::plain(why)));
        }
    }
    let (n_same, n_pairs) = (class.same.len(), class.similar.len());
    if n_same + n_pairs > 0 {
        out.push_str(&format!(
            "groups with the same kernel: {n_same}, pairs with passages in common: {n_pairs}; the report names them\n"
        ));
    }
    if let Some(report) = files.first() {
        out.push_str(&format!("the report: {}\n", paths::display_path(report)));
    }
    out
}

fn records(class: &ClassGrades) -> Result<()> {
    for student in &class.students {
        output::print(&format!("{}\n", serde_json::json!({"student": student})))?;
    }
    let (title, max, same, similar) = (&class.title, class.max, &class.same, &class.similar);
    let n = class.students.len();
    output::print(&format!(
        "{}\n",
        serde_json::json!({"class": {"title": title, "max": max, "n": n, "same": same, "similar": similar}})
    ))
}

/// `compile-one`
#[derive(clap::Args)]
pub(crate) struct CompileArgs {
    /// Folder of NVRTC
    #[arg(long, required_unless_present_any = ["built_in", "rustc"])]
    nvrtc: Option<PathBuf>,
    /// The built-in compiler
    #[arg(long, conflicts_with = "nvrtc")]
    built_in: bool,
    /// The program rustc, and the folder with the prelude
    #[arg(long, num_args = 2, conflicts_with_all = ["nvrtc", "built_in"])]
    rustc: Vec<PathBuf>,
    /// The source, in the current folder
    file: PathBuf,
}

/// Compiles one source in this process, and prints what came of it.
pub(crate) fn compile_one(args: &CompileArgs) -> Result<CommandOutcome> {
    let root = std::env::current_dir()?;
    let path = root.join(&args.file);
    let made = match (&args.nvrtc, args.built_in, &args.rustc[..]) {
        (Some(directory), ..) => {
            CompileJob::of_learner(&root, &path)?.compile_here(&LoadedNvrtc::load(directory)?, &root)
        }
        (_, true, _) => {
            let job = CompileJob::of_learner(&root, &path)?;
            let includes = local_includes(&root, &path, &job.source)?;
            built_in::compile(&root, &job, &includes)?.ptx.map_err(|refused| DoesNotCompile(refused.log()).into())
        }
        (_, _, [rustc, libraries]) => {
            // Without a sandbox, the folder of the job is its own.
            let folder = if paths::try_write(&root).is_ok() { &root } else { Path::new("/tmp") };
            let rustc = Rustc::in_sandbox(rustc, libraries, &root, folder);
            rustc.compile(&args.file, &xtask_support::source::read_source(&path)?)
        }
        _ => bail!("no compiler is named"),
    };
    let compiled = match made {
        Ok(ptx) => CompilerAnswer::Ptx(ptx),
        Err(error) => match error.downcast::<DoesNotCompile>() {
            Ok(DoesNotCompile(log)) => CompilerAnswer::Refused(log),
            Err(error) => return Err(passed_on(error)),
        },
    };
    output::print(&serde_json::to_string(&compiled)?)?;
    Ok(CommandOutcome::Passed)
}

/// Ends this program as a shell would where a signal ended the compiler, as for its limits, so that the grader sees
/// why; otherwise returns the error.
#[cfg(unix)]
fn passed_on(error: anyhow::Error) -> anyhow::Error {
    let Some(stopped) = error.downcast_ref::<Stopped>() else { return error };
    let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&stopped.status) else { return error };
    // rustc is still busy with the signal of the first limit when the second one, a second later, kills it.
    let signal = if signal == libc::SIGKILL && grader::confine::is_out_of_time() { libc::SIGXCPU } else { signal };
    let signal = u8::try_from(signal).unwrap_or_default();
    Stop::Signal(signal, stopped.words.clone()).into()
}

#[cfg(not(unix))]
fn passed_on(error: anyhow::Error) -> anyhow::Error {
    error
}

/// `confined`
#[derive(clap::Args)]
pub(crate) struct ConfinedArgs {
    /// Seconds of processor time, bytes of address space, bytes of a file, processes
    #[arg(num_args = 4, value_names = ["SECONDS", "MEMORY", "FILE", "PROCESSES"], required = true)]
    limits: Vec<u64>,
    /// Files and folders that the program may read, and no others
    #[arg(long)]
    reads: Vec<PathBuf>,
    /// The program and its arguments
    #[arg(last = true)]
    program: Vec<OsString>,
}

/// Sets limits and becomes the program.
#[cfg(unix)]
pub(crate) fn confined(args: &ConfinedArgs) -> Result<CommandOutcome> {
    let limits = args.limits.as_slice().try_into()?;
    let program = args.program.first().cloned().unwrap_or_default();
    Err(grader::confine::become_program(&limits, &args.reads, &args.program))
        .with_context(|| program.to_string_lossy().into_owned())
}

/// Sets limits and becomes the program.
#[cfg(not(unix))]
pub(crate) fn confined(args: &ConfinedArgs) -> Result<CommandOutcome> {
    bail!("{:?} cannot be confined on this system", args.program)
}
