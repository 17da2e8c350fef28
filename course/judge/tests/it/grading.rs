//! Grading with the real programs: `teach`, which `cargo xtask grade` starts, the compiler, `judge`, each in its
//! sandbox.
//!
//! Where there is no bubblewrap or no NVRTC, these tests cannot run, and say so.

#![expect(clippy::panic, clippy::print_stdout, reason = "a test says what went wrong, and what was not run")]

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{has_run, program, read, root, teach};

/// A folder with submissions, a rubric and results, removed at the end.
struct Class {
    folder: TempDir,
    teach: &'static Path,
    compiler: &'static str,
}

const RUBRIC: &str =
    "format = 1\ntitle = \"Tiles\"\nseed = 7\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";

impl Class {
    /// Returns `None` where this machine cannot grade.
    fn new() -> Option<Self> {
        Self::with("nvrtc")
    }

    fn with(compiler: &'static str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("submissions")).expect("a folder");
        std::fs::write(folder.path().join("rubric.toml"), RUBRIC).expect("a file");
        let class = Self { folder, teach: teach(), compiler };
        class.submit("probe", &finished());
        let probe = class.grade("probe-out", &[]);
        std::fs::remove_dir_all(class.folder.path().join("submissions/probe")).expect("it was made");
        has_run(&probe).then_some(class)
    }

    fn published_none_of(&self, out: &str, secrets: &[&str]) {
        let mut all = Vec::new();
        files(&self.folder.path().join(out), &mut all);
        for path in all {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned();
            assert!(!secrets.iter().any(|secret| text.contains(secret)), "{} holds one", path.display());
        }
    }

    fn student(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join("submissions").join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn submit(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.student(name);
        std::fs::write(folder.join("v02.cu"), text).expect("a file");
        folder
    }

    fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = program(self.teach, self.compiler);
        command
            .arg("grade")
            .arg(self.folder.path().join("submissions"))
            .arg("--rubric")
            .arg(self.folder.path().join("rubric.toml"))
            .arg("--out")
            .arg(self.folder.path().join(out))
            .args(more)
            .current_dir(root())
            .env("TILE_CANARY", CANARY);
        command
    }

    /// Grades where the only program of the system is the one that lists libraries.
    fn without_bubblewrap(&self, out: &str, more: &[&str]) -> Command {
        let programs = self.folder.path().join("programs");
        if std::fs::create_dir(&programs).is_ok() {
            symlink("/usr/bin/ldd", programs.join("ldd")).expect("a link");
        }
        let mut command = self.command(out, more);
        command.env("PATH", programs);
        command
    }

    fn grade(&self, out: &str, more: &[&str]) -> Output {
        self.command(out, more).output().expect("teach runs")
    }

    /// Grades all, and returns the grades by student.
    #[track_caller]
    fn graded(&self, out: &str, more: &[&str]) -> BTreeMap<String, Value> {
        ended(0, &self.grade(out, more));
        self.grades(out)
    }

    /// Returns the grades in the folder `out`, by student.
    fn grades(&self, out: &str) -> BTreeMap<String, Value> {
        let path = self.folder.path().join(out).join("grades.json");
        let text = std::fs::read_to_string(path).expect("grades");
        let class: Value = serde_json::from_str(&text).expect("JSON");
        let students = class["students"].as_array().expect("a list");
        students.iter().map(|student| (student["name"].as_str().expect("a name").to_owned(), student.clone())).collect()
    }
}

/// Returns the output and the errors of a grading that ends with this code.
#[track_caller]
fn ended(code: i32, output: &Output) -> [String; 2] {
    let [text, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{errors}{text}");
    [text, errors]
}

fn finished() -> String {
    read("kernels/v02_shared.cu")
}

/// A secret that no result may contain.
const CANARY: &str = "canary-7f3a91";

/// A template of which as many are instantiated as 2 to the power of D.
const TEMPLATE_BOMB: &str = "template <int D, int X> struct T { static const long v = T<D - 1, 2 * X>::v + T<D - 1, 2 * X + 1>::v; };\n\
                             template <int X> struct T<0, X> { static const long v = X; };\n";

fn kernel(before: &str, body: &str) -> String {
    format!(
        "#include \"common.cuh\"\n{before}\nextern \"C\" __global__ void __launch_bounds__(1024)\n\
         sgemm_v02_tile32(int M, int N, int K, const float* A, const float* B, float* C)\n{{\n{body}\n}}\n"
    )
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if entry.file_type().expect("a type").is_dir() { files(&path, into) } else { into.push(path) }
    }
}

#[test]
fn hostile_submissions_fail_and_reach_nothing_with_bubblewrap() {
    let Some(class) = Class::new() else { return };
    let canary = class.folder.path().join("canary.h");
    std::fs::write(&canary, format!("#error {CANARY}\n")).expect("a file");
    let canary = canary.display().to_string();
    let mut expected: Vec<(String, String, String)> = Vec::new();
    let mut submit = |name: &str, text: &str, code: &str, says: &str| {
        expected.push((name.to_owned(), code.to_owned(), says.to_owned()));
        class.submit(name, text)
    };
    let all = include_str!("hostile.toml").replace("CANARY_PATH", &canary);
    for (name, entry) in &all.parse::<toml::Table>().expect("hostile submissions") {
        let field = |field: &str| entry.get(field).and_then(toml::Value::as_str).unwrap_or_default();
        let text =
            if field("source").is_empty() { kernel(field("before"), field("body")) } else { field("source").into() };
        submit(name, &text, field("code"), field("says"));
    }
    let seen = |what: &str| format!("#if __has_include(\"{what}\")\n#error {CANARY}: {what} is seen\n#endif\n");
    let looks = "/etc/hosts /proc/self/environ /proc/1/cmdline /dev/null /sys/kernel /job/../tmp /tmp /home /root/.bashrc \
                 ../task.json ../../rubric.toml /usr/include/stdio.h";
    let looks: String = looks.split(' ').chain([canary.as_str()]).map(seen).collect();
    submit("looks-around", &kernel(&looks, ""), "wrong-result", "");
    submit("template-bomb", &kernel(TEMPLATE_BOMB, "C[0] = T<40, 0>::v;"), "timeout", "was not done after 2 s");
    let macros: String = (1..40).map(|n| format!("#define M{n} M{} M{}\n", n - 1, n - 1)).collect();
    submit("macro-bomb", &kernel(&format!("#define M0 ;\n{macros}"), "M39"), "", "");
    // PTX that the compiler passes on unchanged.
    let asm = |text: &str| kernel("", &format!("asm volatile(\"{text}\");"));
    submit("asm-braces", &asm(&"{".repeat(20_000)), "compile", "");
    submit("asm-long", &asm(&"add.s32 a,a,a;".repeat(40_000)), "compile", "");

    // Tampering.
    let folder = submit("build-script", &kernel("", ""), "wrong-result", "");
    let touched = class.folder.path().join("touched");
    let script = format!("fn main() {{ std::fs::write({touched:?}, \"\").unwrap(); }}\n");
    std::fs::write(folder.join("build.rs"), &script).expect("a file");
    std::fs::write(folder.join("Cargo.toml"), "[package]\nname = \"xtask\"\nbuild = \"build.rs\"\n").expect("a file");
    std::fs::create_dir_all(folder.join(".cargo")).expect("a folder");
    let runner = format!("[build]\nrustc-wrapper = \"touch {}\"\n", touched.display());
    std::fs::write(folder.join(".cargo/config.toml"), runner).expect("a file");
    let folder = submit("checker-files", &kernel("", ""), "wrong-result", "");
    for name in ["judge", "xtask", "verdict.json", "results.json", "task.json", "kernel.ptx", "common.cuh"] {
        std::fs::write(folder.join(name), "#!/bin/sh\necho passed\n").expect("a file");
    }
    std::fs::create_dir_all(folder.join("kernels")).expect("a folder");
    std::fs::write(folder.join("kernels/common.cuh"), "#define M 0\n").expect("a file");

    // Invalid files.
    let file = std::fs::File::create(class.student("sparse").join("v02.cu")).expect("a file");
    file.set_len(1 << 30).expect("a sparse file");
    let link = |to: &Path, from: PathBuf| symlink(to, from).expect("a link");
    link(Path::new("/etc/passwd"), class.student("link").join("v02.cu"));
    link(Path::new("."), class.student("circle").join("my"));
    link(class.folder.path(), class.folder.path().join("submissions/whole"));
    class.student("nothing");
    class.submit("binary", "\u{0}\u{1}\u{2}");
    expected.extend(
        [
            ("sparse", "refused", "1073741824 bytes"),
            ("link", "refused", "symbolic link"),
            ("circle", "refused", "symbolic link"),
            ("whole", "refused", "symbolic link"),
            ("nothing", "missing", "no v02.cu"),
            ("binary", "refused", "not plain text"),
        ]
        .map(|(name, code, says)| (name.into(), code.into(), says.into())),
    );
    class.submit("$(touch x) <b>\u{1b}[31m", &kernel("", ""));
    // After all these, one that is right.
    class.submit("zoe", &finished());

    let limits = ["--limit", "2", "--jobs", "2"];
    let bare = class.without_bubblewrap("landlock", &limits);
    for (out, mut grading) in [("out", class.command("out", &limits)), ("landlock", bare)] {
        let graded = grading.output().expect("teach runs");
        if String::from_utf8_lossy(&graded.stderr).contains("Landlock and seccomp do not work here") {
            println!("not run: {}", String::from_utf8_lossy(&graded.stderr));
            continue;
        }
        // A person has to look at what was refused.
        let [text, errors] = ended(1, &graded);
        assert!(text.contains("\nsparse: look at it by hand: v02.cu has 1073741824 bytes"), "{text}");
        assert_eq!(errors.contains("Landlock"), out == "landlock", "{errors}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let grades = class.grades(out);
        let mut wrong = Vec::new();
        for (name, code, says) in &expected {
            let student = &grades[name];
            let verdict = &student["verdicts"][0];
            let (got, why) = (verdict["code"].as_str().unwrap_or("none"), verdict["why"].as_str().unwrap_or(""));
            println!("{name}: {got}: {why}");
            let is_other = !code.is_empty() && got != code;
            if student["points"] != 0.0 || got == "none" || is_other || why.is_empty() || !why.contains(says) {
                wrong.push(format!("{name}: {got}: {why}; {} points", student["points"]));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(grades["zoe"]["points"], 10.0);
        assert_eq!(grades.len(), std::fs::read_dir(class.folder.path().join("submissions")).expect("a folder").count());
        assert!(!touched.exists(), "something of a submission was run");
        class.published_none_of(out, &[&format!("{CANARY}:"), &format!("#error {CANARY}"), "root:x:"]);
    }
}

#[test]
fn a_grading_that_is_killed_goes_on_with_bubblewrap() {
    let Some(class) = Class::new() else { return };
    let finished = finished();
    for n in 0..8 {
        class.submit(&format!("student-{n:02}"), &format!("{finished}// {n}\n"));
    }
    ended(0, &class.grade("whole", &["--jobs", "2"]));
    let kept = || {
        let work = std::fs::read_dir(class.folder.path().join("parts/work")).into_iter().flatten().flatten();
        work.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json")).count()
    };
    // Ctrl-C in a terminal reaches the whole process group.
    for (signal, least) in [("INT", 2), ("TERM", 3), ("KILL", 4)] {
        let mut command = class.command("parts", &["--jobs", "2"]);
        let mut child = command.process_group(0).spawn().expect("teach runs");
        while kept() < least && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill = format!("kill -{signal} -{}", child.id());
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.expect("a shell").success());
        let status = child.wait().expect("ended");
        assert_eq!(status.code(), (signal != "KILL").then_some(130), "{signal}");
        let before = kept();
        assert!((least..8).contains(&before), "{signal}: {before}");
    }
    ended(0, &class.grade("parts", &["--jobs", "1"]));
    // Grading in parts, as on several machines, and then all together.
    for part in ["0/3", "2/3", "1/3"] {
        ended(0, &class.grade("split", &["--part", part]));
    }
    ended(0, &class.grade("split", &[]));
    let mut all = Vec::new();
    files(&class.folder.path().join("whole"), &mut all);
    assert!(all.len() > 20, "{}", all.len());
    for path in all {
        let name = path.strip_prefix(class.folder.path().join("whole")).expect("inside");
        for other in ["parts", "split"] {
            let same = std::fs::read(class.folder.path().join(other).join(name)).expect("the same files");
            assert!(same == std::fs::read(&path).expect("a file"), "{other}: {}", name.display());
        }
    }
}

#[test]
fn records_and_exit_codes_with_bubblewrap() {
    let Some(class) = Class::new() else { return };
    class.submit("ada", &finished());
    let [records, _] = ended(0, &class.grade("out", &["--json"]));
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(record["student"].is_object() || record["class"].is_object(), "{line}");
    }
    ended(2, &class.grade("out", &["--part", "3/3"]));
    // Without `bwrap`, `--no-sandbox` must not report a broken sandbox.
    let mut command = class.command("open", &["--no-sandbox"]);
    let output = command.env("TILE_JUDGE", "/bin/false").output().expect("teach runs");
    let [_, errors] = ended(3, &output);
    assert!(errors.ends_with("error: judge does not start: (exit status: 1)\n"), "{errors}");
    assert_eq!(class.graded("open", &["--no-sandbox"])["ada"]["points"], 10.0);
}

/// Attacks on the built-in compiler. Every source gets a verdict: none is left to a person.
#[test]
fn the_built_in_compiler_compiles_in_a_sandbox_with_bubblewrap() {
    let Some(class) = Class::with("built-in") else { return };
    let looks = "#if __has_include(\"/etc/hosts\")\n#error seen\n#endif\n";
    let submissions = [
        ("zoe", finished(), "none"),
        ("passwd", "#include \"/etc/passwd\"\n".into(), "compile"),
        ("looks-around", kernel(looks, ""), "compile"),
        ("bomb", kernel(TEMPLATE_BOMB, "C[0] = T<40, 0>::v;"), "compile"),
        ("assembler", kernel("asm(\".incbin \\\"/etc/passwd\\\"\");", ""), "compile"),
        ("quotes", "#include </etc/passwd>\n".into(), "compile"),
    ];
    for (name, text, _) in &submissions {
        class.submit(name, text);
    }
    let grades = class.graded("out", &["--limit", "3"]);
    for (name, _, expected) in submissions {
        let code = grades[name]["verdicts"][0]["code"].as_str().unwrap_or("none");
        assert_eq!(code, expected, "{name}: {:#}", grades[name]);
    }
    assert_eq!(grades["zoe"]["points"], 10.0);
    class.published_none_of("out", &["root:x:"]);
}

/// Kernels in Rust: rustc in its sandbox, and sources that try to leave it.
#[test]
fn kernels_in_rust_are_graded_with_bubblewrap() {
    let Some(class) = Class::new() else { return };
    let with = |text: &str, new: &str| {
        let source = read("kernels/rust/v02_shared.rs");
        assert_eq!(source.matches(text).count(), 1, "{text}");
        source.replace(text, new)
    };
    let item = |item: &str| with("use prelude::*;", &format!("{item}\nuse prelude::*;"));
    let fib = "const fn f(n: u64) -> u64 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }";
    let submissions = [
        ("zoe", "v02.rs", item(""), "none", 10.0),
        ("half", "v02.rs", with("barrier(); // reads", "// reads"), "E-RACE", 6.0),
        ("include", "v02.rs", item("const X: &str = include_str ! (\"/etc/passwd\");"), "compile", 0.0),
        ("module", "v02.rs", item("mod passwd;"), "compile", 0.0),
        ("linked", "v02.rs", item("extern crate proc_macro;"), "compile", 0.0),
        ("variable", "v02.rs", item("const X: &str = env!(\"TILE_CANARY\");"), "compile", 0.0),
        ("bomb", "v02.rs", item(&format!("{fib}\nconst _: () = assert!(f(90) > 0);")), "timeout", 0.0),
        ("cuda", "v02.cu", finished(), "refused", 0.0),
    ];
    for (name, file, text, ..) in &submissions {
        std::fs::write(class.student(name).join(file), text).expect("a file");
    }
    let rubric = RUBRIC.replace("name = \"v02\"", "name = \"v02\"\nrust = true");
    std::fs::write(class.folder.path().join("rubric.toml"), rubric).expect("a file");
    let graded = class.grade("out", &["--limit", "5"]);
    if !has_run(&graded) {
        return;
    }
    ended(1, &graded); // somebody has to look at the refused one
    let grades = class.grades("out");
    for (name, _, _, expected, points) in submissions {
        let code = grades[name]["verdicts"][0]["code"].as_str().unwrap_or("none");
        assert_eq!((code, &grades[name]["points"]), (expected, &points.into()), "{name}: {:#}", grades[name]);
    }
    class.published_none_of("out", &["root:x:", CANARY]);
}

const OTHERS: &str = include_str!("others_rubric.toml");

/// Answers for the host, which are not compiled, and a variant task.
#[test]
fn answers_for_the_host_and_drawn_tasks_are_graded_with_bubblewrap() {
    let Some(class) = Class::new() else { return };
    std::fs::write(class.folder.path().join("rubric.toml"), OTHERS).expect("a file");
    let (launch, operands) = (read("steps/v01/tasks/launch.toml"), read("steps/v09/tasks/operands.toml"));
    let catalogue = tasks::Catalogue::load(root(), "v02").expect("a catalogue");
    let points = catalogue.variant.expect("a task whose numbers are drawn").points;
    let text = read(tasks::variant::reference_of("v02"));
    let kernel = |slug: &str| {
        let point = points.iter().find(|point| point.slug() == slug).expect("a point");
        tasks::variant::reference(&text, point).expect("a kernel")
    };
    let drawn = kernel("sgemm_tn-BK32-BM16-BN64");
    let hand_in = |name: &str, files: [&str; 3]| {
        let names = ["v01.launch.toml", "v09.operands.toml", "v02.variant.cu"];
        for (file, text) in names.iter().zip(files) {
            std::fs::write(class.student(name).join(file), text).expect("a file");
        }
    };
    hand_in("ada", [&launch, &operands, &drawn]);
    let idle = launch.replace("ceil_div(N, 32)", "N / 32 + 1");
    let other = kernel("sgemm_tn-BK16-BM32-BN16");
    hand_in("bob", [&idle, &operands.replace("\"A\"", "\"B\""), &other]);
    let endless = operands.replace("m = \"N\"", "m = 0").replace("n = \"M\"", "n = 9223372036854775807");
    let blocks = launch.replace("ceil_div(N, 32)", "2147483647");
    hand_in("mallory", [&blocks, &endless, ""]);
    hand_in("none", ["x", &"(".repeat(100_000), "x"]);
    let grades = class.graded("out", &["--limit", "20"]);
    let codes = |name: &str| {
        let verdicts = grades[name]["verdicts"].as_array().expect("verdicts").iter();
        let codes: Vec<&str> = verdicts.map(|verdict| verdict["code"].as_str().unwrap_or("none")).collect();
        (grades[name]["points"].as_f64().expect("points"), codes.join(" "))
    };
    assert_eq!(codes("ada"), (26.0, "none none none".into()));
    assert_eq!(codes("bob"), (6.0, "no-idle-blocks E-OOB E-LAUNCH".into()));
    assert_eq!(codes("mallory"), (0.0, "E-LOOP wrong-result no-entry".into()));
    assert_eq!(codes("none"), (0.0, "compile compile compile".into()));
}

/// Kernels of `tests/data/solutions`, with the points that they get.
#[test]
fn points_are_those_of_the_table_with_bubblewrap() {
    let Some(class) = Class::new() else { return };
    let expected = include_str!("points.csv");
    let all = tasks::solutions::load(root(), "v02").unwrap_or_else(|why| panic!("{why}"));
    for line in expected.lines().skip(1) {
        let name = line.split(',').next().unwrap_or_default();
        let solution = all.iter().find(|solution| solution.name.strip_prefix("v02/") == Some(name));
        class.submit(name, &solution.unwrap_or_else(|| panic!("{name}")).source);
    }
    let grades = class.graded("out", &[]);
    assert_eq!(std::fs::read_to_string(class.folder.path().join("out/grades.csv")).expect("grades"), expected);
    let why = |name: &str| grades[name]["items"][0]["why"].as_str().expect("a reason").to_owned();
    let why_of_starter = why("starter");
    assert!(!why_of_starter.contains("right on small integers"), "{why_of_starter}");
    let why = why("no-first-barrier");
    assert!(why.starts_with("half of the points: the result is right with `__syncthreads();` after line "), "{why}");
}
