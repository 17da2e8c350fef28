//! Starting the steps: built by Cargo in a checkout, or lying beside this program in a copied folder.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Once;

use anyhow::{Context, Result, anyhow, bail, ensure};
use catalog::Step;
use catalog::programs::{ANSWERS, on_path};
use catalog::text::shell_word;
use records::{Roofline, record::Line};

use crate::CommandOutcome;
use crate::interrupt::{self, Waiting};
use crate::output::{self, Status};
use crate::paths;

/// Variable in which the loader looks for libraries first.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The programs of some steps, ready to run.
pub struct Programs {
    paths: BTreeMap<&'static str, PathBuf>,
    /// Folders that the loader searches before its default ones.
    libraries: Vec<PathBuf>,
    /// Folder in which the steps keep reference answers for each other. It changes no result, so no printed command has
    /// it.
    answers: Option<PathBuf>,
}

pub struct CommandOutput {
    /// Exit code; `None` when it was killed.
    pub code: Option<i32>,
    pub stderr: String,
}

impl CommandOutput {
    /// Returns a sentence for a step that neither passed nor failed.
    pub fn could_not_run(&self, step: &Step) -> String {
        format!("{} could not run: {}", step.id, self.message(step))
    }

    /// Returns the error that the step printed, or how it ended without one.
    pub fn message(&self, step: &Step) -> String {
        let text = self.stderr.trim();
        let text = text.strip_prefix("error: ").unwrap_or(text);
        match (text.is_empty(), self.code) {
            (false, _) => text.to_owned(),
            (true, Some(code)) => format!("{} ended with exit code {code} and printed no error", step.id),
            (true, None) => format!("{} was killed by the system and printed no error", step.id),
        }
    }
}

impl Programs {
    /// Builds the programs of some steps when Cargo started this program or this program lies in the checkout;
    /// otherwise finds those beside it.
    pub fn find_or_build(steps: &[&'static Step]) -> Result<Self> {
        let Some(root) = paths::checkout() else { return Self::prebuilt(steps) };
        if let Some(cargo) = paths::builder(&root) {
            if is_read_only() {
                let there = Self::prebuilt(steps).context("the folder is read-only, so nothing can be built in it");
                return there.inspect(|_| stays_as_built());
            }
            return Self::build(&cargo, &root, steps);
        }
        match (Self::prebuilt(steps), on_path("cargo")) {
            (Err(_), Some(cargo)) => Self::build(&cargo, &root, steps),
            (programs, _) => programs,
        }
    }

    fn build(cargo: &Path, root: &Path, steps: &[&'static Step]) -> Result<Self> {
        for step in steps {
            if !root.join("steps").join(step.id).join("Cargo.toml").is_file() {
                bail!("there is no program for {} yet: steps/{} is missing", step.id, step.id);
            }
        }
        let names: Vec<&'static str> = steps.iter().map(|step| step.id).collect();
        let paths = build(cargo, root, &names)?;
        // As `cargo run` does: libnvcuda.so of the same build.
        let folder = paths.values().next().and_then(|path| path.parent());
        let libraries = folder.map(|folder| folder.join("deps")).into_iter().collect();
        Ok(Self { paths, libraries, answers: None })
    }

    fn prebuilt(steps: &[&'static Step]) -> Result<Self> {
        let folder = paths::program_folder().context("the path of this program is not known")?;
        let found = steps.iter().filter_map(|step| Some((step.id, beside(step.id)?)));
        let paths: BTreeMap<&str, PathBuf> = found.collect();
        let missing: Vec<&str> = steps.iter().map(|step| step.id).filter(|id| !paths.contains_key(id)).collect();
        if !missing.is_empty() {
            bail!(
                "no program for {} in {}: copy it there, or run `cargo xtask` in a checkout",
                missing.join(", "),
                folder.display()
            );
        }
        Ok(Self { paths, libraries: vec![folder.clone(), folder.join("deps")], answers: None })
    }

    /// Adds a folder in which the steps keep reference answers for each other.
    pub fn sharing(self, answers: Option<PathBuf>) -> Self {
        Self { answers, ..self }
    }

    /// Runs a step that prints to the terminal itself.
    pub fn run_on_terminal(&self, step: &Step, args: &[String]) -> Result<ExitStatus> {
        Ok(interrupt::wait_for(&mut self.start(&[], step, args, |_| ())?)?)
    }

    /// Runs a step with `--json`, and calls `each` with every record as it is printed. A `tool` such as a profiler is a
    /// command that takes the program and its arguments.
    pub fn stream_records(
        &self, tool: &[String], step: &Step, args: &[String], status: &Status,
        mut each: impl FnMut(&str, Line) -> Result<()>,
    ) -> Result<CommandOutput> {
        let piped = |command: &mut Command| {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        };
        let mut child = self.start(tool, step, args, piped)?;
        let waiting = Waiting::for_child(&child);
        let errors = child.stderr.take().context("no standard error")?;
        let out = BufReader::new(child.stdout.take().context("no output")?);
        let read_lines = || -> Result<()> {
            for line in out.lines() {
                let line = line?;
                let parsed = serde_json::from_str(&line)
                    .with_context(|| format!("{} printed a line that is not a record: {line}", step.id))?;
                each(&line, parsed)?;
            }
            Ok(())
        };
        let (result, stderr) = std::thread::scope(|scope| {
            let errors = scope.spawn(move || gather(errors, step, status));
            let result = read_lines();
            if result.is_err() {
                let _ = child.kill();
            }
            (result, errors.join().unwrap_or_default())
        });
        let ended = child.wait()?;
        drop(waiting);
        result?;
        Ok(CommandOutput { code: ended.code(), stderr })
    }

    /// Returns the ceilings of the device, measured by a step.
    pub fn roofline(&self, step: &Step) -> Result<Roofline> {
        let output = self.piped(step, &["roofline".to_owned()], Stdio::piped())?;
        let ended =
            CommandOutput { code: output.status.code(), stderr: String::from_utf8_lossy(&output.stderr).into_owned() };
        if output.status.success() {
            serde_json::from_slice(&output.stdout).context("the step printed no roofline")
        } else {
            bail!("{}", ended.message(step))
        }
    }

    /// Runs a step whose page goes to the terminal on standard error, and gives what it prints.
    pub fn output_of(&self, step: &Step, args: &[String]) -> Result<String> {
        let output = self.piped(step, args, Stdio::inherit())?;
        if output.status.success() {
            String::from_utf8(output.stdout).context("the answer of the step is not text")
        } else {
            bail!("{} failed; see its output above", step.id)
        }
    }

    /// Runs a step to its end, and returns what it prints.
    fn piped(&self, step: &Step, args: &[String], errors: Stdio) -> Result<Output> {
        let child = self.start(&[], step, args, |command| {
            command.stdout(Stdio::piped()).stderr(errors);
        })?;
        let _waiting = Waiting::for_child(&child);
        Ok(child.wait_with_output()?)
    }

    fn start(&self, tool: &[String], step: &Step, args: &[String], set: impl FnOnce(&mut Command)) -> Result<Child> {
        let (mut command, mut folders) = self.command(tool, step, args);
        output::command(&command_line(&command, &folders));
        let known = std::env::var_os(LIBRARY_PATH).unwrap_or_default();
        folders.extend(std::env::split_paths(&known).filter(|p| !p.as_os_str().is_empty()));
        command.env(LIBRARY_PATH, std::env::join_paths(folders)?);
        command.envs(self.answers.iter().map(|folder| (ANSWERS, folder)));
        set(&mut command);
        let program = Path::new(command.get_program()).to_owned();
        command.spawn().with_context(|| format!("starting {}", program.display()))
    }

    /// Returns the command that would run, as one would type it.
    pub fn command_line(&self, tool: &[String], step: &Step, args: &[String]) -> String {
        let (command, folders) = self.command(tool, step, args);
        command_line(&command, &folders)
    }

    /// Returns the command, and folders for the loader.
    fn command(&self, tool: &[String], step: &Step, args: &[String]) -> (Command, Vec<PathBuf>) {
        let path = &self.paths[step.id];
        let mut command = match tool {
            [] => Command::new(path),
            [tool, rest @ ..] => {
                let mut command = Command::new(tool);
                // The step is to look for a GPU itself, in the process that the tool looks at.
                command.args(rest).arg(path).env("TILE_DEVICE", "real");
                command
            }
        };
        command.args(args);
        let mut folders: Vec<PathBuf> = self.libraries.clone();
        folders.retain(|folder| folder.is_dir());
        (command, folders)
    }
}

/// Builds programs, each named as its package, and returns their paths.
pub fn build(cargo: &Path, root: &Path, names: &[&'static str]) -> Result<BTreeMap<&'static str, PathBuf>> {
    let mut command = Command::new(cargo);
    command.arg("build");
    let is_first = is_first_build(names);
    if !is_first {
        command.arg("-q");
    }
    for name in names {
        command.args(["-p", name]);
    }
    let is_step = names.iter().any(|name| catalog::find(name).is_ok());
    // A program behind a command is mostly up to date; the line goes once something is printed.
    let status = output::Status::on_stderr();
    if is_first || is_step {
        output::command(&command_line(&command, &[]));
    } else {
        status.set(&format!("building {}", names.join(", ")));
    }
    let steps: Vec<&str> = catalog::STEPS.iter().map(|step| step.id).collect();
    if is_step && is_first_build(&steps) {
        output::note("the first time, the emulated GPU is built too, which takes a minute or two");
    }
    command.arg("--message-format=json-render-diagnostics");
    command.current_dir(root).stdout(Stdio::piped());
    let mut child = command.spawn().context("starting cargo")?;
    let waiting = Waiting::for_child(&child);
    let mut paths = BTreeMap::new();
    for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(&line?) else { continue };
        let (target, path) = (&message["target"], message["executable"].as_str());
        let built = names.iter().find(|name| target["name"] == **name);
        if let (Some(name), Some(path)) = (built, path) {
            paths.insert(*name, PathBuf::from(path));
        }
    }
    let status = child.wait()?;
    drop(waiting);
    interrupt::check("nothing was run")?;
    if !status.success() {
        match names {
            [name] => bail!("{name} does not build; the errors of the compiler are above"),
            _ => bail!("a program does not build; the errors of the compiler are above"),
        }
    }
    for name in names {
        ensure!(paths.contains_key(name), "cargo built no program called {name}");
    }
    Ok(paths)
}

/// Returns the program of a package that is no step: the one that `TILE_JUDGE`, for `judge`, names, or else built when
/// Cargo is there, or lying beside this one.
pub fn find_program(name: &'static str) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(format!("TILE_{}", name.to_uppercase())) {
        return Ok(path.into());
    }
    let root = paths::checkout();
    let builder = root.as_deref().and_then(paths::builder);
    let read_only = builder.is_some() && is_read_only();
    if (builder.is_none() || read_only)
        && let Some(path) = beside(name)
    {
        if read_only {
            stays_as_built();
        }
        return Ok(path);
    }
    let (Some(root), Some(cargo)) = (root, builder.or_else(|| on_path("cargo"))) else {
        bail!("there is no program {name} beside this one: copy it there, or run `cargo xtask` in a checkout");
    };
    let mut paths = build(&cargo, &root, &[name])?;
    paths.remove(name).context("it was just built")
}

/// Returns the path of a program that lies beside this one.
fn beside(name: &str) -> Option<PathBuf> {
    let path = paths::program_folder()?.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    path.is_file().then_some(path)
}

/// Returns whether the folder of this program is read-only, so that nothing can be built again.
fn is_read_only() -> bool {
    let error = paths::program_folder().and_then(|folder| paths::try_write(&folder).err());
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied))
}

/// Notes, at most once, that the programs stay as they were built.
fn stays_as_built() {
    static NOTED: Once = Once::new();
    let folder = paths::program_folder().map_or_else(String::new, |folder| paths::display_path(&folder));
    NOTED.call_once(|| output::note(&format!("{folder} is read-only, so the programs that were built before are run")));
}

/// Returns whether none of the programs lies beside this one, which Cargo built into the same folder.
fn is_first_build(names: &[&str]) -> bool {
    paths::program_folder().is_none_or(|folder| !names.iter().any(|name| folder.join(name).is_file()))
}

/// Reads standard error to its end; the last line is shown while it lasts.
fn gather(stream: impl std::io::Read, step: &Step, status: &Status) -> String {
    let mut all = String::new();
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        // A line that a program redraws arrives as one line with carriage returns.
        let last = line.rsplit('\r').next().unwrap_or_default();
        status.set(&format!("{}  {last}", step.id));
        all.push_str(last);
        all.push('\n');
    }
    all
}

/// Returns the command as one would type it.
pub fn command_line(command: &Command, libraries: &[PathBuf]) -> String {
    let word = |text: &OsStr| shell_word(&text.to_string_lossy());
    let path = |path: &Path| word(&OsString::from(paths::display_path(path)));
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), word(value?))))
        .collect();
    if !libraries.is_empty() {
        let folders: Vec<String> = libraries.iter().map(|folder| path(folder)).collect();
        words.push(format!("{LIBRARY_PATH}={}", folders.join(":")));
    }
    let short = |path: &Path| match word(&OsString::from(paths::display_path(path))) {
        name if name.contains('/') => name,
        name => format!("./{name}"),
    };
    let program = Path::new(command.get_program());
    words.push(match program.file_name() {
        Some(name) if name == "cargo" => "cargo".into(),
        // A bare name is looked for on the PATH.
        Some(name) if name == program.as_os_str() => word(name),
        _ => short(program),
    });
    words.extend(command.get_args().map(|arg| match Path::new(arg) {
        path if path.is_absolute() => short(path),
        _ => word(arg),
    }));
    words.join(" ")
}

/// Returns `Passed`, or the reasons why some steps did not run.
pub fn passed_unless(failures: &[String], n_steps: usize) -> Result<CommandOutcome> {
    match failures {
        [] => Ok(CommandOutcome::Passed),
        [only] => Err(anyhow!("{only}")),
        several => {
            several.iter().for_each(|failure| output::error(failure));
            Err(anyhow!(
                "{} of {n_steps} steps could not run; see what is missing here: {} doctor",
                several.len(),
                paths::command_name()
            ))
        }
    }
}
