use super::*;
use crate::sandbox::Launcher;
use crate::unit::CompilerProgram;
use tasks::verdict::Part;
use tempfile::TempDir;

const RUBRIC: &str = "format = 1\nseed = 7\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";

fn rubric(text: &str) -> Rubric {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Rubric::parse(text, "rubric.toml", &root).expect("a rubric")
}

fn people(list: String) -> Vec<Person> {
    crate::roster::parse(list.into(), "class.csv").expect("a list").0
}

/// A class of one, graded with shell scripts in place of the compiler and of `judge`.
struct FakeClass {
    folder: TempDir,
    rubric: Rubric,
    tools: Tools,
    people: Option<Vec<Person>>,
    given: GivenPoints,
    anonymous: bool,
}

impl FakeClass {
    fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path();
        std::fs::create_dir_all(folder.join("submissions/ada")).expect("a folder");
        std::fs::write(folder.join("submissions/ada/v02.cu"), "x").expect("a file");
        let confined = folder.join("confined");
        std::fs::write(&confined, "shift 5\nexec /bin/sh \"$@\"\n").expect("a file");
        Self {
            rubric: rubric(RUBRIC),
            tools: Tools {
                launcher: Launcher {
                    program: "/bin/sh".into(),
                    word: confined.display().to_string(),
                    libraries: BTreeSet::new(),
                    interrupted: || false,
                },
                cuda: Some(CompilerProgram {
                    program: folder.join("compiler"),
                    arguments: Vec::new(),
                    reads: Vec::new(),
                    needs_processes: false,
                }),
                rust: None,
                judge: folder.join("judge"),
                headers: Vec::new(),
                version: String::new(),
            },
            people: None,
            given: GivenPoints::new(),
            anonymous: false,
            folder: temporary,
        }
    }

    fn grade(&self, compiler: &str, judge: &str) -> Result<Student, GradingError> {
        self.grade_all(compiler, judge).map(|mut class| class.students.remove(0))
    }

    fn grade_all(&self, compiler: &str, judge: &str) -> Result<ClassGrades, GradingError> {
        std::fs::write(self.folder.path().join("compiler"), compiler).expect("a file");
        std::fs::write(&self.tools.judge, judge).expect("a file");
        let grading = Grading {
            submissions: &self.folder.path().join("submissions"),
            rubric: &self.rubric,
            out: &self.folder.path().join("out"),
            jobs: 1,
            tools: &self.tools,
            sandbox: &Sandbox::None,
            limits: TaskLimits::default(),
            starters: &BTreeMap::new(),
            finished: &BTreeMap::from([("v02".to_owned(), "void  f(); // the book's".to_owned())]),
            roster: self.people.as_deref(),
            given: &self.given,
            against: &[],
            moss: false,
            anonymous: self.anonymous,
        };
        run(&grading, &|_, _| true)
    }

    fn grade_well(&self) -> Result<Student, GradingError> {
        self.grade_class().map(|mut class| class.students.remove(0))
    }

    fn grade_class(&self) -> Result<ClassGrades, GradingError> {
        let task = &self.rubric.tasks[0].task;
        let mut verdict = Verdict::stopped(task.name.clone(), &task.criteria, "", "");
        verdict.status = Status::Passed;
        (verdict.code, verdict.why, verdict.n_shapes) = (None, None, 9);
        for part in &mut verdict.parts {
            *part = Part::passed(&part.id, &part.what);
        }
        let verdict = serde_json::to_string(&verdict).expect("JSON");
        self.grade_all(COMPILES, &format!("cat <<'END'\n{verdict}\nEND\n"))
    }
}

const COMPILES: &str = "echo '{\"ptx\": \"\"}'\n";

/// Checks that a source is ungraded after these programs, and judged by the next grading.
#[track_caller]
fn check_ungraded(compiler: &str, judge: &str, why: &str) {
    let class = FakeClass::new();
    let student = class.grade(compiler, judge).expect("grades");
    assert!(student.is_ungraded(), "{student:#?}");
    assert_eq!(student.verdicts[0].why.as_deref(), Some(why));
    let again = class.grade_well().expect("grades");
    assert_eq!((again.points, again.is_ungraded()), (10.0, false), "{again:#?}");
}

#[test]
fn a_program_that_is_ended_from_outside_says_nothing_of_a_source() {
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("KILL", 9), ("TERM", 15)] {
        let why = |who: &str| format!("{who} was ended from outside (signal {number})");
        // The test process may ignore the others, as HUP under nohup.
        if signal == "KILL" {
            let ends = "kill -KILL $$\n";
            check_ungraded(ends, "", &why("the compiler"));
            check_ungraded(COMPILES, ends, &why("the kernel"));
        }
        // A sandbox passes it on like this.
        let passes_on = format!("exit {}\n", 128 + number);
        check_ungraded(COMPILES, &passes_on, &why("the kernel"));
    }
}

#[test]
fn a_mistake_of_our_programs_is_not_the_sources() {
    let panics = "echo \"thread 'main' (7) panicked at course/judge/src/lib.rs:1:2:\nwhat went wrong\nnote: run \
                      with it\" >&2\nexit 101\n";
    let why =
        |who: &str| format!("{who} gave no answer (exit status: 101): course/judge/src/lib.rs:1:2: what went wrong");
    check_ungraded(panics, "", &why("the compiler"));
    check_ungraded(COMPILES, panics, &why("judge"));
    check_ungraded(COMPILES, "kill -SEGV $$\n", "judge gave no answer (signal: 11 (SIGSEGV))");
}

#[test]
fn nothing_is_kept_after_an_interrupt() {
    let mut class = FakeClass::new();
    class.tools.launcher.interrupted = || true;
    let stop = class.grade("exec sleep 1000\n", "").expect_err("interrupted");
    assert!(matches!(stop, GradingError::Interrupted { done: 0, total: 1 }), "{stop:?}");
    let left = std::fs::read_dir(work(&class.folder.path().join("out"))).expect("a folder");
    assert_eq!(left.count(), 0);
    class.tools.launcher.interrupted = || false;
    assert_eq!(class.grade_well().expect("grades").points, 10.0);
}

#[test]
fn the_books_own_kernel_is_named() {
    let class = FakeClass::new();
    for (source, notes) in [("void f();\n", 1), ("void g();\n", 0)] {
        std::fs::write(class.folder.path().join("submissions/ada/v02.cu"), source).expect("a file");
        assert_eq!(class.grade_well().expect("grades").notes.len(), notes, "{source}");
    }
}

#[test]
fn a_late_submission_of_a_team_is_graded_with_points_by_hand() {
    let mut class = FakeClass::new();
    let late = "seed = 7\ndue = 2026-12-01T18:00:00Z\nlate = { per_day = 0.25 }";
    let manual = "\n[[manual]]\nid = \"report\"\nwhat = \"explains\"\npoints = 4\n";
    class.rubric = rubric(&(RUBRIC.replace("seed = 7", late) + manual));
    let list = |extension: &str| {
        format!("id,name,team,extension,submitted\nrow,Row Col,Ada,{extension},2026-12-03T17:00:00Z\n")
    };
    class.people = Some(people(list("")));
    class.given = points::parse("[row]\nreport = 4\nv02.clean = 1\n", "points.toml").expect("points");
    let student = class.grade_well().expect("grades");
    assert_eq!((student.name.as_str(), student.points), ("row", 5.0 + 0.5 * 8.0));
    let late = "handed in at 2026-12-03T17:00:00Z, by the list of the class, 2 days late: 50 % of the points";
    assert_eq!(student.notes, ["handed in as ada", late]);
    class.people = Some(people(list("2")));
    assert_eq!(class.grade_well().expect("grades").points, 13.0);
    for (given, expected) in [
        ("[eve]\nreport = 4\n", "points by hand for `eve`, who is not among the students"),
        ("[row]\nreport = 5\n", "points by hand: row: report: 5 is not from 0 to 4"),
        ("[row]\nrepart = 4\n", "points by hand for `repart`, which the rubric does not have"),
    ] {
        class.given = points::parse(given, "points.toml").expect("points");
        assert_eq!(class.grade_well().expect_err(given).to_string(), expected);
    }
}

/// Returns the played class with a list of one who answered a question, and the answers to it.
fn answered() -> (FakeClass, [String; 2]) {
    let mut class = FakeClass::new();
    let question = "\n[[question]]\nid = \"v02.sectors-with-tiles\"\npoints = 2\ndrawn = 417\n";
    class.rubric = rubric(&format!("{RUBRIC}{question}"));
    class.people = Some(people("id,name,team\nada-77,Ada,The Reds\nbob,Bob,\n".into()));
    let graded = &class.rubric.questions[0];
    let drawn = |of: &str| graded.question.drawn(417, &graded.id, of).expect("numbers").answer.text();
    let answers = ["the reds", "ada77"].map(drawn);
    assert_ne!(answers[0], answers[1]);
    (class, answers)
}

#[test]
fn the_answer_to_a_drawn_question_is_that_of_the_team() {
    let (mut class, [right, other]) = answered();
    let answer = |student: &str, answer: &str| {
        let text = format!("student = \"{student}\"\n\"v02.sectors-with-tiles\" = \"{answer}\"\n");
        std::fs::write(class.folder.path().join("submissions/ada/answers.toml"), text).expect("a file");
        let mut student = class.grade_well().expect("grades");
        (student.points, student.notes.pop().unwrap_or_default(), student.items.pop().expect("a question").why)
    };
    assert_eq!(answer("THE REDS", &right), (12.0, "handed in as ada".into(), None));
    let note = "the file of answers is for the questions of ada-77, and not of The Reds";
    let why = format!("the answer was: {other}; with these numbers it is {right}");
    assert_eq!(answer("ada-77", &other), (10.0, note.into(), Some(why)));
    class.rubric.questions[0].drawn = None;
    assert_eq!(class.grade_well().expect("grades").warnings, [NOT_DRAWN]);
}

#[test]
fn an_anonymous_grading_has_no_names_and_takes_points_for_its_codes() {
    let (mut class, _) = answered();
    std::fs::create_dir(class.folder.path().join("submissions/eve-smith")).expect("a folder");
    let eve = anonymous::code(7, "eve-smith");
    class.given = points::parse(&format!("[{eve}]\nv02.right = 3\n[bob]\nv02.clean = 1\n"), "p").expect("points");
    class.grade_well().expect("grades, and knows the codes");
    class.anonymous = true;
    let class = class.grade_class().expect("grades");
    let text = serde_json::to_string(&class).expect("JSON");
    for name in ["ada", "bob", "eve-", "Reds", "Ada", "smith"] {
        assert!(!text.contains(name), "{name}: {text}");
    }
    let found = class.students.iter().find(|student| student.name == eve).expect("her code");
    assert_eq!((found.points, &found.warnings[..]), (3.0, &["nobody in the list has this name".to_owned()][..]));
    assert!(class.students.is_sorted_by_key(|student| student.name.clone()));
    assert!(crate::formats::codes(&class).contains(&format!("{eve},eve-smith\n")));
}

#[test]
fn what_is_not_read_is_a_warning() {
    let class = FakeClass::new();
    std::fs::remove_file(class.folder.path().join("submissions/ada/v02.cu")).expect("it was made");
    assert_eq!(class.grade_well().expect("grades").warnings, [""; 0], "nothing was handed in");
    std::fs::write(class.folder.path().join("submissions/ada/hw.zip"), "PK").expect("a file");
    let warnings = class.grade_well().expect("grades").warnings;
    assert_eq!(warnings, ["hw.zip is a zip file: unpack it, and grade again"]);
    std::fs::rename(
        class.folder.path().join("submissions/ada/hw.zip"),
        class.folder.path().join("submissions/ada/v02.rs"),
    )
    .expect("it was made");
    let graded = serde_json::to_string(&class.grade_well().expect("grades")).expect("JSON");
    assert!(graded.contains("v02.rs is a kernel in Rust: hand in v02.cu"), "{graded}");
}
