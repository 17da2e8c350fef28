//! `cargo xtask assign` and `cargo xtask report`: starter repositories for a class, and where the class stands.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use catalog::files::{StagedFolder, files_under, read_text, with_suffix, write_whole, write_whole_bytes};
use catalog::programs::on_path;
use catalog::text::{Paint, Table};
use grader::assign::{self, AssignedTask, Assignment};
use grader::report::{self, Minutes};
use tasks::{Catalogue, TaskName, variant};
use xtask::commands::teach::{Assign, LARGEST_SEED, Report};
use xtask::learner;
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Stop};
use xtask_support::{interrupt, paths};
use zip::write::SimpleFileOptions;

/// Writes the starter repository, and the rubric beside it.
pub(crate) fn run(args: &Assign) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let shown = args.out.display().to_string();
    let out = args.out.as_path();
    let rubric = with_suffix(out, ".rubric.toml");
    let is_free = |path: &Path| match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if out.file_name().is_none() || !is_free(out) {
        bail!("{shown} already exists; choose a new folder");
    }
    if rubric.symlink_metadata().is_ok() {
        bail!(
            "{} already exists; it has the seed of another assignment: choose a new folder, or move the file away",
            rubric.display()
        );
    }
    let names = args.tasks.iter().map(|asked| TaskName::parse(asked));
    let mut names = names.collect::<Result<Vec<_>, _>>().map_err(|error| Stop::Usage(error.to_string()))?;
    for name in names.iter_mut().filter(|_| args.variant) {
        match name.id.as_deref() {
            None => name.id = Some(variant::ID.to_owned()),
            Some(variant::ID) => {}
            Some(_) => {
                bail!(Stop::Usage(format!("--variant draws a task of a step: name {}, and not {name}", name.step)));
            }
        }
    }
    let seed = args.seed.unwrap_or_else(drawn);
    let starter = |task: &tasks::Task| learner::starter(&root, task).map_err(Into::into);
    let (tasks, questions) =
        assign::choose(&root, &names, seed, args.rust, starter).map_err(|error| Stop::Usage(error.to_string()))?;
    if let Some(given) = tasks.iter().find(|given| given.task.host.is_some())
        && args.gpu_required
    {
        bail!(Stop::Usage(format!(
            "the idea of {} is on the host: it has no kernel that could run on a GPU",
            given.task.name
        )));
    }
    let assignment = Assignment {
        title: args.title.split_whitespace().collect::<Vec<_>>().join(" "),
        due: args.due.clone(),
        seed,
        tasks,
        questions,
        gpu_required: args.gpu_required,
        minutes: minutes(args.minutes.as_deref())?,
        image: args.image.clone(),
    };
    interrupt::watch();
    // It appears under its name when it is whole: half a repository could be published.
    let staged = StagedFolder::new(out).with_context(|| shown.clone())?;
    assign::write(&root, staged.path(), &assignment)?;
    tidy_lock(staged.path());
    let has_git = commit(staged.path(), &assignment.title);
    if interrupt::happened() {
        bail!(Stop::Interrupted("nothing was written".into()));
    }
    let mut references = String::new();
    for given in &assignment.tasks {
        if let Some(drawn) = &given.drawn {
            let path = with_suffix(out, &format!(".{}.cu", given.task.name));
            write_whole(&path, &tasks::markers::finished(&drawn.reference))
                .with_context(|| path.display().to_string())?;
            references.push_str(&format!("{}: a kernel that passes; keep it to yourself\n", path.display()));
        }
    }
    write_whole(&rubric, &assign::rubric(&assignment)).with_context(|| rubric.display().to_string())?;
    // Without its repository, the rubric would refuse the next try.
    let finished = staged.finish().inspect_err(|_| drop(std::fs::remove_file(&rubric)));
    finished.with_context(|| shown.clone())?;
    if args.gradescope {
        let path = with_suffix(out, ".gradescope.zip");
        autograder(&root, &path, &assignment).with_context(|| path.display().to_string())?;
        references.push_str(&format!("{}: for Gradescope's autograder; it holds the seed, too\n", path.display()));
    }
    let me = paths::command_name();
    let shown_names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let tasks = if names.len() == 1 { "task" } else { "tasks" };
    let mut text = format!("{shown}: {tasks} {} with no solution in it\n", shown_names.join(", "));
    for AssignedTask { task, starter, .. } in &assignment.tasks {
        let others = names.iter().filter(|name| **name != task.name);
        let others = others.filter(|other| task.shows.iter().any(|part| part.of == other.step));
        let others: Vec<String> = others.map(ToString::to_string).collect();
        let left_out = match &others[..] {
            [] => String::new(),
            [other] => format!(", without the lines that {other} asks for"),
            others => format!(", without the lines that {} ask for", others.join(", ")),
        };
        text.push_str(&format!(
            "  my/{}  {} lines, about {} minutes{left_out}\n",
            task.copy_file_name(),
            starter.lines().count(),
            assignment.minutes_of(task)
        ));
    }
    let n_drawn = assignment.questions.iter().filter(|(_, question)| question.variant.is_some()).count();
    if n_drawn > 0 {
        let n = assignment.questions.len();
        text.push_str(&format!(
            "  my/answers.toml  questions: {n}, drawn for each student: {n_drawn}; print them with: {me} questions ID…\n"
        ));
    }
    text.push_str(if has_git {
        "  one commit in a git repository of its own\n"
    } else {
        "  no git repository: git is missing or failed\n"
    });
    text.push_str(&format!(
        "{}: points, and the seed of the hidden tests; keep it to yourself\n{references}next: look at {shown}/README.md, publish \
         {shown}, and later: {me} grade SUBMISSIONS --rubric {} --out grades\n",
        rubric.display(),
        rubric.display()
    ));
    output::print(&text)?;
    Ok(CommandOutcome::Passed)
}

/// Writes the zip file that Gradescope makes the image of an autograder from.
fn autograder(root: &Path, path: &Path, assignment: &Assignment) -> Result<()> {
    let folder = StagedFolder::new(&path.with_extension(""))?;
    assign::write_autograder(root, folder.path(), assignment)?;
    tidy_lock(folder.path());
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o755);
    for file in files_under(folder.path())? {
        zip.start_file_from_path(file.strip_prefix(folder.path())?, options)?;
        zip.write_all(&std::fs::read(&file)?)?;
    }
    Ok(write_whole_bytes(path, &zip.finish()?.into_inner())?)
}

/// Draws a seed, as the standard library draws the keys of its hash tables.
fn drawn() -> u64 {
    let state = std::collections::hash_map::RandomState::new();
    state.build_hasher().finish() & LARGEST_SEED
}

fn minutes(path: Option<&Path>) -> Result<BTreeMap<String, u32>> {
    let Some(path) = path else { return Ok(BTreeMap::new()) };
    let name = path.display().to_string();
    let text = read_text(path).with_context(|| name.clone())?;
    let minutes = Minutes::parse(&text, &name)?;
    Ok(minutes.minutes)
}

/// Takes packages out of Cargo.lock that the repository does not need, so that the first build changes nothing. Where
/// that is not possible now, Cargo does it then.
fn tidy_lock(out: &Path) {
    let Some(cargo) = paths::cargo().or_else(|| on_path("cargo")) else { return };
    let arguments = ["metadata", "--offline", "--quiet", "--format-version", "1"];
    runs_in_silence(Command::new(cargo).args(arguments).current_dir(out));
}

/// Runs a command whose words nobody wants; returns whether it succeeded.
fn runs_in_silence(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Makes one commit in a new repository; returns whether that worked.
fn commit(out: &Path, title: &str) -> bool {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        for setting in [
            "user.name=Tile by Tile",
            "user.email=course@localhost",
            "commit.gpgSign=false",
            "core.hooksPath=/dev/null",
            "core.autocrlf=false",
            "init.defaultBranch=main",
        ] {
            command.args(["-c", setting]);
        }
        // A repository around this one, or a hook that runs us, must not be meant.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        runs_in_silence(command.args(arguments).current_dir(out))
    };
    git(&["init", "-q"]) && git(&["add", "-A"]) && git(&["commit", "-q", "-m", title])
}

/// Prints which students are stuck on which task.
pub(crate) fn report(args: &Report) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let catalogues = Catalogue::load_all(&root)?;
    let tasks: Vec<tasks::Task> = catalogues.into_iter().flat_map(|catalogue| catalogue.tasks).collect();
    let folder = args.submissions.display().to_string();
    let report = report::read(&args.submissions, &tasks).with_context(|| folder.clone())?;
    if report.students == 0 {
        return Err(anyhow!("{folder} has no progress file; each student's folder has one in my/progress.toml"));
    }
    if args.json {
        for task in &report.tasks {
            output::print(&format!("{}\n", serde_json::json!({"task": task})))?;
        }
        let (n, without, unreadable) = (report.students, &report.without, &report.unreadable);
        output::print(&format!(
            "{}\n",
            serde_json::json!({"class": {"students": n, "without": without, "unreadable": unreadable}})
        ))?;
    } else {
        output::print(&table(&report))?
    }
    if let Some(path) = &args.minutes {
        let measured = report.measured();
        write_whole(path, &measured.text()).with_context(|| path.display().to_string())?;
        output::note(&format!(
            "wrote {}: minutes of {} tasks; use them with: {} assign … --minutes {}",
            path.display(),
            measured.minutes.len(),
            paths::command_name(),
            path.display()
        ));
    }
    Ok(CommandOutcome::Passed)
}

fn table(report: &report::Report) -> String {
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.0}"));
    let headings = "task, begun, passed, gave up, stuck, checks, hints, minutes, estimate, most frequent";
    let mut table = Table::new(headings.split(", ")).left(1);
    for task in &report.tasks {
        let codes: Vec<String> = task.codes.iter().map(|(code, n)| format!("{code} ({n})")).collect();
        table.row([
            task.task.clone(),
            task.begun.to_string(),
            task.passed.to_string(),
            task.gave_up.to_string(),
            task.stuck.len().to_string(),
            number(task.checks),
            task.hints.to_string(),
            number(task.minutes),
            task.estimate.to_string(),
            codes.join(" "),
        ]);
    }
    let mut out = format!("{} students\n\n{}", report.students, table.render(Paint::for_stdout()));
    if report.tasks.iter().any(|task| !task.stuck.is_empty()) {
        out.push_str("\nstuck, the longest first\n");
    }
    for task in &report.tasks {
        for stuck in &task.stuck {
            let code = stuck.code.as_deref().unwrap_or("not checked yet");
            out.push_str(&format!(
                "  {}  {}: {code}, after {} checks, {} minutes, {} hints\n",
                task.task, stuck.student, stuck.checks, stuck.minutes, stuck.hints
            ));
        }
    }
    for (student, why) in &report.unreadable {
        out.push_str(&format!("{student}: {why}\n"));
    }
    if !report.without.is_empty() {
        out.push_str(&format!("without a progress file: {}\n", report.without.join(", ")));
    }
    out
}

#[cfg(test)]
mod tests {
    use grader::rubric::Rubric;

    use super::*;

    #[test]
    fn an_autograder_has_the_grader_and_a_lock_file_that_fits() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let names = ["v02", "v01.launch"].map(|name| TaskName::parse(name).expect("a name"));
        let starter = |task: &tasks::Task| learner::starter(&root, task).map_err(Into::into);
        let (tasks, questions) = assign::choose(&root, &names, 7, false, starter).expect("they go together");
        let assignment = Assignment {
            title: "Tiles".into(),
            due: None,
            seed: 7,
            tasks,
            questions,
            gpu_required: false,
            minutes: BTreeMap::new(),
            image: None,
        };
        let folder = std::env::temp_dir().join(format!("teach-autograder-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("tiles.gradescope.zip");
        autograder(&root, &path, &assignment).expect("a zip file");
        let file = std::fs::File::open(&path).expect("it was written");
        let mut zip = zip::ZipArchive::new(file).expect("a zip file");
        let solution = read_text(&root.join("kernels/v02_shared.cu")).expect("a kernel");
        let own = solution.lines().find(|line| line.contains("acc +=")).expect("the idea of v02").as_bytes();
        for at in 0..zip.len() {
            let mut content = Vec::new();
            let mut entry = zip.by_index(at).expect("an entry");
            std::io::Read::read_to_end(&mut entry, &mut content).expect("its content");
            assert!(!content.windows(own.len()).any(|part| part == own), "{} has a solution", entry.name());
        }
        for name in ["setup.sh", "run_autograder", "rubric.toml", "steps/v02/tasks.toml", "xtask/teach/src/main.rs"] {
            let entry = zip.by_name(name).expect(name);
            assert_eq!(entry.unix_mode().map(|mode| mode & 0o777), Some(0o755), "{name}");
        }
        let unpacked = folder.join("unpacked");
        zip.extract(&unpacked).expect("it unpacks");
        Rubric::parse(&read_text(&unpacked.join("rubric.toml")).expect("a file"), "rubric.toml", &unpacked)
            .expect("the rubric finds its tasks");
        let mut tree = Command::new(paths::cargo().or_else(|| on_path("cargo")).expect("Cargo runs tests"));
        let arguments = ["tree", "--locked", "--offline", "--package", "teach"];
        assert!(runs_in_silence(tree.args(arguments).current_dir(&unpacked)), "the lock file does not fit");
        std::fs::remove_dir_all(&folder).expect("it was made");
    }
}
