//! Writes a starter repository: everything that `check` needs for some tasks, and no solution.
//!
//! Its workspace has copies of the crates behind the command line and `judge`, found by following their manifests; of
//! the kernels only headers and the probe of the device. Tests, examples and everything else that could hold a finished
//! kernel stay behind. Answers to questions, and the last level of hints, are taken out of the catalogues.

mod answers;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow, bail, ensure};
use catalog::files::FileError;
use catalog::provenance::{sha256, target_of};
use tasks::drawn::{self, DrawnTexts};
use tasks::task::{Question, file_of};
use tasks::variant::{self, Point};
use tasks::{Catalogue, Task, TaskName, quiz, solutions};
use toml::{Table, Value};

#[derive(Debug, Clone)]
pub struct Assignment {
    pub title: String,
    /// The due date, as printed in the README.
    pub due: Option<String>,
    /// Seed of the hidden tests, stored in the rubric and nowhere in the repository.
    pub seed: u64,
    pub tasks: Vec<AssignedTask>,
    /// Questions with their ids, such as `v02.sectors`.
    pub questions: Vec<(String, Question)>,
    /// Whether results count only from a real GPU.
    pub gpu_required: bool,
    /// Measured minutes by task, in place of the catalogue's.
    pub minutes: BTreeMap<String, u32>,
    /// Name of the container image with the built programs.
    pub image: Option<String>,
}

impl Assignment {
    /// Returns the minutes that a task takes: measured ones, or those of the catalogue.
    pub fn minutes_of(&self, task: &Task) -> u32 {
        self.minutes.get(&task.name.to_string()).copied().unwrap_or(task.minutes)
    }
}

/// Programs that the repository of the students builds.
const ROOTS: [&str; 3] = ["xtask", "xtask_start", "judge"];
/// Sections of a manifest that name what is not copied.
const LEFT_OUT: [&str; 5] = ["dev-dependencies", "test", "bench", "example", "bin"];
/// Files of the kernels' folder that programs include.
const KERNELS: [&str; 2] = ["probe.cu", "ptx/probe.ptx"];
/// Files of the root that are copied unchanged.
const UNCHANGED: [&str; 5] = [".cargo/config.toml", "Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "rustfmt.toml"];

#[derive(Debug, Clone)]
pub struct AssignedTask {
    pub task: Task,
    /// The file that a learner begins with.
    pub starter: String,
    /// The drawn numbers, for a variant task.
    pub drawn: Option<DrawnVariant>,
}

#[derive(Debug, Clone)]
pub struct DrawnVariant {
    pub point: Point,
    table: Table,
    /// A kernel that passes, for the instructor, with markers.
    pub reference: String,
}

/// Error of a caller that makes starters.
pub type StarterError = Box<dyn std::error::Error + Send + Sync>;

/// Tasks, and the questions of their steps by id.
pub type AssignedWork = (Vec<AssignedTask>, Vec<(String, Question)>);

/// Reads tasks and questions from the checkout at `root`; `starter` returns the learner's starting point. The numbers
/// of `vNN.variant` are drawn from the seed. With `rust`, the kernels are written in Rust.
pub fn choose(
    root: &Path, names: &[TaskName], seed: u64, rust: bool, starter: impl Fn(&Task) -> Result<String, StarterError>,
) -> Result<AssignedWork> {
    let (mut given, mut questions): (Vec<AssignedTask>, Vec<_>) = (Vec::new(), Vec::new());
    let mut steps = BTreeSet::new();
    for name in names {
        let catalogue = Catalogue::load(root, &name.step)?;
        let (task, drawn) = match name.id.as_deref() {
            Some(variant::ID) => {
                let (task, drawn) = draw(root, &catalogue, seed)?;
                (task, Some(drawn))
            }
            _ => (catalogue.find(name).map_err(Error::msg)?.clone(), None),
        };
        let task = if rust { in_rust(&task, names)? } else { task };
        ensure!(given.iter().all(|known| known.task.name != *name), "{name} is named twice");
        let starter = match &drawn {
            Some(drawn) if task.has_starter => tasks::starter::starter(&task, &drawn.reference),
            _ => starter(&task).map_err(anyhow::Error::from_boxed)?,
        };
        given.push(AssignedTask { starter, task, drawn });
        if steps.insert(name.step.clone()) {
            // The book has the answers of the others.
            let (drawn, fixed): (Vec<_>, Vec<_>) =
                catalogue.questions.into_iter().partition(|question| question.variant.is_some());
            let of_step = if drawn.is_empty() { fixed } else { drawn };
            questions.extend(of_step.into_iter().map(|one| (format!("{}.{}", name.step, one.id), one)));
        }
    }
    // The repository contains the PTX of a launched kernel.
    for launch in &given {
        let kernel = launch.task.host.as_ref().and_then(|host| host.call.kernel());
        let is_asked = |other: &&AssignedTask| Some(&other.task.solution) == kernel.as_ref();
        if let Some(other) = given.iter().find(is_asked) {
            let (launch, other) = (&launch.task.name, &other.task.name);
            bail!("{launch} launches the finished kernel of {other}: a repository with both would hold a solution");
        }
    }
    answers::leave_out(&mut given)?;
    answers::refuse(root, &given)?;
    Ok((given, questions))
}

fn in_rust(task: &Task, names: &[TaskName]) -> Result<Task> {
    let shows = &task.name;
    // The catalogue has the lines that are left out in C++ alone.
    let is_shown = |name: &&TaskName| **name != *shows && task.shows.iter().any(|part| part.of == name.step);
    if let Some(name) = names.iter().find(is_shown) {
        bail!("the starter of {shows} in Rust shows what {name} asks for: assign {name} in a repository of its own");
    }
    task.in_rust().with_context(|| format!("{shows} cannot be assigned in Rust: {}", Task::IN_RUST))
}

fn draw(root: &Path, catalogue: &Catalogue, seed: u64) -> Result<(Task, DrawnVariant)> {
    let step = &catalogue.step;
    let Some(variant) = &catalogue.variant else {
        let mut catalogues = Catalogue::load_all(root).unwrap_or_default();
        catalogues.retain(|catalogue| catalogue.variant.is_some());
        let steps: Vec<&str> = catalogues.iter().map(|catalogue| catalogue.step.as_str()).collect();
        bail!("{step} has nothing to vary; numbers are drawn for {}", steps.join(", "));
    };
    let Some(point) = variant.draw(step, seed) else {
        bail!("{step}: nothing can be drawn: the variant has no points")
    };
    let place = |why: String| anyhow!("{step}: {point}: {why}");
    let file = variant::reference_of(step);
    let text = std::fs::read_to_string(root.join(&file)).map_err(FileError::at(&file))?;
    let drawn = DrawnVariant {
        point: point.clone(),
        table: variant.table(point).map_err(place)?,
        reference: variant::reference(&text, point).map_err(place)?,
    };
    Ok((variant.task(step, point).map_err(place)?, drawn))
}

/// Writes the repository of the students into `out`; the checkout at `root` is only read.
pub fn write(root: &Path, out: &Path, assignment: &Assignment) -> Result<()> {
    let copier = Copier { root, out };
    workspace(&copier, &ROOTS, assignment)?;
    let steps: BTreeSet<&str> = assignment.tasks.iter().map(|given| given.task.name.step.as_str()).collect();
    for step in steps {
        let file = file_of(step);
        let table = catalogue(copier.toml(&file)?, step, assignment);
        copier.put(&file, toml::to_string(&table)?)?;
    }
    for AssignedTask { task, starter, .. } in &assignment.tasks {
        copier.put(&Path::new("my").join(task.copy_file_name()), starter)?;
    }
    if !assignment.questions.is_empty() {
        copier.put(Path::new("my/answers.toml"), answers(assignment))?;
    }
    let texts = |(id, question): &(String, Question)| Some((id.clone(), question.variant.as_ref()?.texts()));
    let texts: BTreeMap<_, _> = assignment.questions.iter().filter_map(texts).collect();
    if !texts.is_empty() {
        let drawn = DrawnTexts { number: drawn_number(assignment.seed), texts };
        let head = "# Questions with all numbers that are drawn; yours: cargo xtask questions ID\n";
        copier.put(Path::new(drawn::FILE), head.to_owned() + &toml::to_string(&drawn)?)?;
    }
    copier.put(Path::new("README.md"), readme(assignment))?;
    copier.put(Path::new(".gitignore"), "/target/\n*.tmp\n")?;
    copier.put(Path::new(".github/workflows/check.yml"), workflow(assignment))?;
    if let Some(image) = &assignment.image {
        let container = serde_json::json!({ "name": assignment.title, "image": image });
        copier.put(Path::new(".devcontainer/devcontainer.json"), format!("{container:#}\n"))?;
    }
    Ok(())
}

/// Writes the files of an autograder for Gradescope into `out`: the workspace of the grader, the rubric, two scripts.
pub fn write_autograder(root: &Path, out: &Path, assignment: &Assignment) -> Result<()> {
    let copier = Copier { root, out };
    let roots: Vec<&str> = ROOTS.into_iter().chain(["teach"]).collect();
    workspace(&copier, &roots, assignment)?;
    // The grader knows the answers, and draws the numbers of tasks again.
    for given in &assignment.tasks {
        copier.copy(Path::new(&file_of(&given.task.name.step)))?;
    }
    copier.put(Path::new("rubric.toml"), rubric(assignment))?;
    copier.put(Path::new("setup.sh"), include_str!("assign/gradescope/setup.sh"))?;
    Ok(copier.put(Path::new("run_autograder"), include_str!("assign/gradescope/run_autograder"))?)
}

/// Copies the crates of `roots`, and what the programs read of each task apart from its catalogue.
fn workspace(copier: &Copier<'_>, roots: &[&str], assignment: &Assignment) -> Result<()> {
    let workspace = copier.toml("Cargo.toml")?;
    let members = members(copier, &workspace, roots)?;
    for folder in members.values() {
        copier.folder(&folder.join("src"))?;
        // Files that the sources include.
        let data = folder.join("data");
        if copier.root.join(&data).is_dir() {
            copier.folder(&data)?;
        }
        let script = folder.join("build.rs");
        if copier.root.join(&script).is_file() {
            copier.copy(&script)?;
        }
        let manifest = folder.join("Cargo.toml");
        let mut table = copier.toml(&manifest)?;
        for section in LEFT_OUT {
            table.remove(section);
        }
        if let Some(Value::Table(targets)) = table.get_mut("target") {
            for (_, target) in targets.iter_mut() {
                if let Value::Table(target) = target {
                    target.remove("dev-dependencies");
                }
            }
        }
        copier.put(&manifest, toml::to_string(&table)?)?;
    }
    let own = workspace_crates(copier)?;
    copier.put(Path::new("Cargo.toml"), toml::to_string(&trimmed(workspace, &members, &own))?)?;
    for name in UNCHANGED {
        if copier.root.join(name).is_file() {
            copier.copy(Path::new(name))?;
        }
    }
    for name in KERNELS {
        copier.copy(&Path::new("kernels").join(name))?;
    }
    for AssignedTask { task, starter, .. } in &assignment.tasks {
        // Other headers hold parts of finished kernels.
        for header in solutions::headers(copier.root, starter)? {
            copier.copy(&header)?;
        }
        if task.has_starter {
            copier.put(&task.starter_file(), starter)?;
        }
        if task.is_rust {
            copier.copy(Path::new("kernels/rust/prelude.rs"))?;
        }
        if let Some(kernel) = task.host.as_ref().and_then(|host| host.call.kernel()) {
            copier.copy(&target_of(Path::new(""), &kernel))?;
        }
    }
    Ok(())
}

struct Copier<'a> {
    root: &'a Path,
    out: &'a Path,
}

impl Copier<'_> {
    fn put(&self, path: &Path, content: impl AsRef<[u8]>) -> Result<(), FileError> {
        let target = self.out.join(path);
        let put = || {
            std::fs::create_dir_all(catalog::files::folder_of(&target))?;
            std::fs::write(&target, &content)
        };
        put().map_err(FileError::at(&target))
    }

    fn toml(&self, path: impl AsRef<Path>) -> Result<Table> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(self.root.join(path)).map_err(FileError::at(path))?;
        toml::from_str(&text).map_err(|why| anyhow!("{}: {why}", path.display()))
    }

    fn copy(&self, path: &Path) -> Result<(), FileError> {
        let bytes = std::fs::read(self.root.join(path));
        self.put(path, bytes.map_err(FileError::at(path))?)
    }

    fn folder(&self, path: &Path) -> Result<(), FileError> {
        let shown = FileError::at(path);
        for entry in std::fs::read_dir(self.root.join(path)).map_err(&shown)? {
            let entry = entry.map_err(&shown)?;
            let inner = path.join(entry.file_name());
            match entry.file_type().map_err(&shown)? {
                kind if kind.is_dir() => self.folder(&inner)?,
                kind if kind.is_file() && !is_scratch(&inner) => self.copy(&inner)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Leftovers of editors and tests, and snapshots of tests.
fn is_scratch(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name.ends_with(".tmp") || name.ends_with(".snap") || name.ends_with(".snap.new")
}

/// Crates of the workspace that `roots` depend on: name and folder.
fn members(copier: &Copier<'_>, workspace: &Table, roots: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
    let shared = workspace.get("workspace").and_then(|it| it.get("dependencies")).and_then(Value::as_table);
    let folder = |name: &str| -> Option<PathBuf> {
        let path = shared?.get(name)?.get("path")?.as_str()?;
        Some(PathBuf::from(path))
    };
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut open: Vec<(String, PathBuf)> =
        roots.iter().map(|name| ((*name).to_owned(), folder(name).unwrap_or_else(|| name.into()))).collect();
    while let Some((name, path)) = open.pop() {
        if found.contains_key(&name) {
            continue;
        }
        let manifest = copier.toml(path.join("Cargo.toml"))?;
        let of_targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
        let tables = std::iter::once(&manifest).chain(of_targets.filter_map(Value::as_table));
        let sections = tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|name| table.get(name)));
        for dependency in sections.flatten().filter_map(Value::as_table).flat_map(Table::keys) {
            open.extend(folder(dependency).map(|folder| (dependency.clone(), folder)));
        }
        found.insert(name, path);
    }
    Ok(found)
}

/// Names of all crates of the workspace: those of the lock file that come from nowhere else.
fn workspace_crates(copier: &Copier<'_>) -> Result<BTreeSet<String>> {
    let lock = copier.toml("Cargo.lock")?;
    let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
    let own = packages.filter(|package| package.get("source").is_none());
    Ok(own.filter_map(|package| Some(package.get("name")?.as_str()?.to_owned())).collect())
}

/// Returns the manifest of the workspace, whose crates are `own`, reduced to these members.
fn trimmed(mut manifest: Table, members: &BTreeMap<String, PathBuf>, own: &BTreeSet<String>) -> Table {
    let folders = members.values().map(|folder| Value::String(folder.to_string_lossy().replace('\\', "/")));
    if let Some(Value::Table(workspace)) = manifest.get_mut("workspace") {
        workspace.insert("members".into(), Value::Array(folders.collect()));
        workspace.remove("exclude");
        if let Some(Value::Table(dependencies)) = workspace.get_mut("dependencies") {
            dependencies.retain(|name, value| value.get("path").is_none() || members.contains_key(name));
        }
    }
    if let Some(Value::Table(profiles)) = manifest.get_mut("profile") {
        // Cargo warns about settings of crates that are missing; settings of external crates stay.
        for (_, profile) in profiles.iter_mut() {
            if let Some(Value::Table(packages)) = profile.get_mut("package") {
                packages.retain(|name, _| members.contains_key(name) || !own.contains(name));
            }
        }
    }
    manifest
}

/// Returns the catalogue of a step, reduced to the assigned tasks, without answers.
fn catalogue(mut table: Table, step: &str, assignment: &Assignment) -> Table {
    let assigned = |id: Option<&str>| {
        let name = TaskName { step: step.to_owned(), id: id.map(str::to_owned) };
        assignment.tasks.iter().any(|given| given.task.name == name).then(|| name.to_string())
    };
    let finish = |task: &mut Value, name: &str| {
        let Value::Table(task) = task else { return };
        if let Some(minutes) = assignment.minutes.get(name) {
            task.insert("minutes".into(), Value::Integer(i64::from(*minutes)));
        }
        // These are solutions of others.
        task.remove("shows");
        if is_rust(assignment) {
            task.insert("rust".into(), Value::Boolean(true));
        }
        // The last level is close to the solution.
        if let Some(Value::Array(hints)) = task.get_mut("hints") {
            for hint in hints {
                if let Some(Value::Array(levels)) = hint.get_mut("levels") {
                    levels.truncate(2);
                }
            }
        }
    };
    table.remove("why");
    if assignment.gpu_required {
        table.insert("gpu_required".into(), Value::Boolean(true));
    }
    table.remove("variant");
    let drawn = assignment.tasks.iter().filter(|given| given.task.name.step == step);
    let drawn = drawn.filter_map(|given| Some(Value::Table(given.drawn.as_ref()?.table.clone())));
    if let Value::Array(transfers) = table.entry("transfer").or_insert_with(|| Value::Array(Vec::new())) {
        transfers.extend(drawn);
    }
    match (assigned(None), table.get_mut("rebuild")) {
        (Some(name), Some(task)) => finish(task, &name),
        _ => drop(table.remove("rebuild")),
    }
    for kind in ["transfer", "host"] {
        let Some(Value::Array(tasks)) = table.get_mut(kind) else { continue };
        let id = |task: &Value| task.get("id").and_then(Value::as_str).map(str::to_owned);
        tasks.retain(|task| id(task).is_some_and(|id| assigned(Some(&id)).is_some()));
        for task in tasks.iter_mut() {
            if let Some(name) = id(task).and_then(|id| assigned(Some(&id))) {
                finish(task, &name);
            }
        }
        if tasks.is_empty() {
            table.remove(kind);
        }
    }
    table
}

/// Returns whether the kernels are written in Rust: all of an assignment, or none.
fn is_rust(assignment: &Assignment) -> bool {
    assignment.tasks.iter().any(|given| given.task.is_rust)
}

/// Returns the command that fetches the compiler.
fn setup(assignment: &Assignment) -> &'static str {
    if is_rust(assignment) { "cargo xtask setup --rust" } else { "cargo xtask setup" }
}

fn names(assignment: &Assignment) -> Vec<String> {
    assignment.tasks.iter().map(|given| given.task.name.to_string()).collect()
}

fn readme(assignment: &Assignment) -> String {
    let mut out = format!("# {}\n\n", assignment.title);
    if let Some(due) = &assignment.due {
        out.push_str(&format!("Due: {due}\n\n"));
    }
    out.push_str("## Tasks\n\n| task | what | your file | minutes |\n| --- | --- | --- | --- |\n");
    for AssignedTask { task, .. } in &assignment.tasks {
        out.push_str(&format!(
            "| {} | {} | `my/{}` | {} |\n",
            task.name,
            task.title.replace('|', "\\|"),
            task.copy_file_name(),
            assignment.minutes_of(task)
        ));
    }
    let names = names(assignment);
    let first = names.first().cloned().unwrap_or_default();
    let device =
        if assignment.gpu_required { include_str!("assign/on-gpu.md") } else { include_str!("assign/emulated.md") };
    let built = assignment.image.as_ref().map_or("", |_| include_str!("assign/in-image.md"));
    let compiler = if is_rust(assignment) { "what rustc needs for GPUs" } else { "NVIDIA's compiler, into target/" };
    let setup = format!("{:<27}# once: fetch {compiler}", setup(assignment));
    let commands = include_str!("assign/commands.md").replace("SETUP", &setup).replace("FIRST", &first);
    out.push_str(&commands.replace("DEVICE", &format!("{built}{}", device.trim_end())));
    for AssignedTask { task, .. } in &assignment.tasks {
        out.push_str(&format!("\n## {}: {}\n\n", task.name, task.title));
        if !task.text.trim().is_empty() {
            out.push_str(&format!("{}\n\n", task.text.trim()));
        }
        out.push_str("What is judged:\n\n- every element of the result is right\n- no check finds an error\n");
        out.extend(task.criterion_labels().iter().map(|(_, what)| format!("- {what}\n")));
    }
    if !assignment.questions.is_empty() {
        out.push_str("\n## Questions\n\nWrite your answers into `my/answers.toml`.\n");
        let (drawn, fixed): (Vec<_>, Vec<_>) =
            assignment.questions.iter().partition(|(_, question)| question.variant.is_some());
        if !drawn.is_empty() {
            let names: Vec<String> = drawn.iter().map(|(id, _)| format!("`{id}`")).collect();
            out.push_str(&include_str!("assign/drawn.md").replace("NAMES", &names.join(", ")));
        }
        for (at, (id, question)) in fixed.into_iter().enumerate() {
            out.push_str(if at == 0 { "\n" } else { "" });
            out.push_str(&format!("- `{id}`: {}\n", question.question.trim()));
            let choices = question.choices.iter().enumerate();
            out.extend(choices.map(|(at, choice)| format!("  - {}) {choice}\n", quiz::letter(at))));
        }
    }
    out + "\n## Handing in\n\nHand in the folder `my/`, with `progress.toml`, which the commands write.\n"
}

fn answers(assignment: &Assignment) -> String {
    let mut out = String::from(
        "# Your answers: a number, or the letter of a choice. The README says where the questions are.\n\n",
    );
    if assignment.questions.iter().any(|(_, question)| question.variant.is_some()) {
        out.push_str("student = \"\"  # the ID whose questions you answer\n\n");
    }
    out.extend(assignment.questions.iter().map(|(id, _)| format!("\"{id}\" = \"\"\n")));
    out
}

/// Returns the number of an assignment, from which questions are drawn. It is public: three digits exclude few guesses
/// of the seed.
fn drawn_number(seed: u64) -> u32 {
    let hash = sha256(format!("questions {seed}").as_bytes());
    u32::from_str_radix(&hash[..6], 16).unwrap_or_default() % 1000
}

const RUNNER: &str = "[self-hosted, gpu]";

fn workflow(assignment: &Assignment) -> String {
    let (comment, on, runner) = if assignment.gpu_required {
        (
            "on the GPU of a runner of yours that has the labels `self-hosted` and `gpu`.\n# Without a GPU, check ends with \
             exit code 3, and the run fails. Not at pull requests: anybody can make one",
            "push",
            RUNNER,
        )
    } else {
        ("on the emulated GPU", "[push, pull_request]", "ubuntu-latest")
    };
    let steps = match &assignment.image {
        Some(image) => include_str!("assign/workflow-in-image.yml").replace("IMAGE", image),
        None => include_str!("assign/workflow.yml").to_owned(),
    };
    let check = format!("cargo xtask check {}", names(assignment).join(" "));
    format!("# Checks the kernels at each push, {comment}.\nname: check\non: {on}\n{steps}")
        .replace("RUNNER", runner)
        .replace("CHECK", &check)
        .replace("SETUP", setup(assignment))
}

pub fn rubric(assignment: &Assignment) -> String {
    const RIGHT: f64 = 4.0;
    const CLEAN: f64 = 2.0;
    const DOES: f64 = 4.0;
    let mut out = format!(
        "# Rubric of the assignment, for `cargo xtask grade SUBMISSIONS --rubric THIS --out DIR`.\n# The seed is that of \
         the hidden tests: keep this file to yourself.\n{}format = 1\ntitle = {}\nseed = {}\n",
        if assignment.gpu_required {
            "# Grading runs on the emulated GPU, because its sandbox shows no device: what a real one says is in the \
                     runs of\n# the repository's workflow.\n"
        } else {
            ""
        },
        Value::String(assignment.title.clone()),
        assignment.seed
    );
    for AssignedTask { task, drawn, .. } in &assignment.tasks {
        out.push_str(&format!("\n[[task]]\nname = \"{}\"\n", task.name));
        if let Some(drawn) = drawn {
            let numbers = drawn.point.numbers.iter();
            let work = Value::try_from(drawn.point.work).ok();
            let fields = work.map(|work| format!("work = {work}")).into_iter();
            let fields = fields.chain(numbers.map(|(name, number)| format!("{name} = {number}")));
            out.push_str(&format!("drawn = {{ {} }}\n", fields.collect::<Vec<_>>().join(", ")));
        }
        out.push_str(if task.is_rust { "rust = true\n" } else { "" });
        out.push_str(&format!("right = {RIGHT:.0}\nclean = {CLEAN:.0}\n"));
        if !task.criterion_labels().is_empty() {
            out.push_str(&format!("does = {DOES:.0}\n"));
        }
    }
    for (id, question) in &assignment.questions {
        out.push_str(&format!("\n[[question]]\nid = \"{id}\"\npoints = 1\n"));
        if question.variant.is_some() {
            out.push_str(&format!("drawn = {}\n", drawn_number(assignment.seed)));
        }
    }
    out
}
