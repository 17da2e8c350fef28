use super::*;
use std::os::unix::fs::symlink;

/// Reads the only submission, after `make` wrote it.
#[track_caller]
fn handed(make: impl FnOnce(&Path)) -> SubmittedFile {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let student = folder.join("ada");
    std::fs::create_dir(&student).expect("a folder");
    make(&student);
    let found = all(folder).expect("readable");
    assert_eq!(found.len(), 1);
    let (handed, _) = found[0].source("v02.cu", true);
    handed
}

fn refused(handed: SubmittedFile) -> String {
    match handed {
        SubmittedFile::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_lies_in_the_folder_or_in_my() {
    let text = |text: &str| SubmittedFile::Text(text.into());
    let write = |path: PathBuf, text: &str| std::fs::write(path, text).expect("written");
    assert_eq!(handed(|at| write(at.join("v02.cu"), "x")), text("x"));
    let both = |at: &Path| {
        std::fs::create_dir(at.join("my")).expect("a folder");
        write(at.join("my/v02.cu"), "mine");
        write(at.join("v02.cu"), "x");
    };
    assert_eq!(handed(both), text("mine"));
    assert_eq!(handed(|at| write(at.join("v03.cu"), "x")), SubmittedFile::Missing);
}

#[test]
fn links_are_not_followed() {
    let link = |at: &Path| symlink("/etc/passwd", at.join("v02.cu")).expect("a link");
    assert_eq!(refused(handed(link)), "v02.cu is a symbolic link, which is not followed");
    let circle = |at: &Path| symlink("v02.cu", at.join("v02.cu")).expect("a link");
    assert!(refused(handed(circle)).contains("symbolic link"));
    let inside = |at: &Path| symlink("/etc", at.join("my")).expect("a link");
    assert_eq!(refused(handed(inside)), "my is a symbolic link, which is not followed");
    let whole = |at: &Path| {
        std::fs::remove_dir(at).expect("empty");
        symlink("/etc", at).expect("a link");
    };
    assert!(refused(handed(whole)).contains("symbolic link"));
}

#[test]
fn what_is_no_source_is_not_read() {
    let huge = |at: &Path| {
        let file = File::create(at.join("v02.cu")).expect("a file");
        file.set_len(1 << 30).expect("a sparse file");
    };
    assert_eq!(refused(handed(huge)), "v02.cu has 1073741824 bytes; a source has at most 1048576");
    let bytes = |at: &Path| std::fs::write(at.join("v02.cu"), [0xff, 0xfe]).expect("written");
    assert!(refused(handed(bytes)).contains("not plain text"));
    let inside = |at: &Path| std::fs::create_dir(at.join("v02.cu")).expect("a folder");
    assert_eq!(refused(handed(inside)), "v02.cu is not a file");
    let pipe = |at: &Path| {
        let made = std::process::Command::new("mkfifo").arg(at.join("v02.cu")).status();
        assert!(made.expect("mkfifo").success());
    };
    assert_eq!(refused(handed(pipe)), "v02.cu is not a file");
}

#[test]
fn answers_come_from_two_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let my = folder.join("ada/my");
    std::fs::create_dir_all(&my).expect("a folder");
    let progress =
        "format = 1\n[questions.\"v02.a\"]\nanswer = \"8\"\nright = true\n[questions.\"v02.b\"]\nanswer = \"1\"\n";
    std::fs::write(my.join("progress.toml"), progress).expect("written");
    // A key without quotes is a table in a table.
    let by_hand = "\"v02.a\" = \"\"\n\"v02.b\" = 2\nx = []\nv02.c = 8\n[v03]\nd = \"yes\"\ne.f = 1.5\n";
    std::fs::write(my.join("answers.toml"), by_hand).expect("written");
    let found = all(folder).expect("readable");
    let (answers, notes) = found[0].answers();
    let shown: Vec<String> = answers.iter().map(|(id, answer)| format!("{id}={answer}")).collect();
    assert_eq!(shown, ["v02.a=8", "v02.b=2", "v02.c=8", "v03.d=yes"]);
    let note = |id| format!("the file of answers: what it has for {id} is neither a text nor a number");
    assert_eq!(notes, [note("v03.e"), note("x")]);
    std::fs::write(my.join("answers.toml"), "= = =").expect("written");
    let (answers, notes) = found[0].answers();
    assert_eq!(answers["v02.b"], "1");
    assert!(notes[0].starts_with("the file of answers cannot be read: "), "{notes:?}");
}

#[test]
fn progress_is_read_as_xtask_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("ada")).expect("a folder");
    let progress = |text: &str| {
        std::fs::write(folder.join("ada/progress.toml"), text).expect("written");
        let found = all(folder).expect("readable");
        found[0].progress()
    };
    let without_format = progress("[tasks.v05]\nchecks = 3\n").expect("readable");
    assert_eq!(without_format.expect("there").tasks["v05"].checks, 3);
    assert_eq!(
        progress("format = 9\ntasks = 4\n").expect_err("refused").to_string(),
        "the progress file has format 9, and this version reads up to 1: update the checkout"
    );
    let error = progress("format = 1\n[tasks\n").expect_err("refused").to_string();
    assert!(error.starts_with("the progress file cannot be read: line 2: "), "{error}");
}

#[test]
fn entries_that_look_the_same_have_different_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for name in ["ada\u{1}", "ada\u{2}", "ada\u{3}", "ada  (2)", "bob"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
    }
    let found = all(folder).expect("readable");
    let names: Vec<&str> = found.iter().map(|one| one.student.as_str()).collect();
    assert_eq!(names, ["ada ", "ada  (3)", "ada  (4)", "ada  (2)", "bob"]);
}

#[test]
fn a_single_file_is_a_submission_where_there_is_one_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("bob.cu"), "x").expect("written");
    std::fs::write(folder.join("notes.txt"), "x").expect("written");
    std::fs::write(folder.join(".hidden.cu"), "x").expect("written");
    let found = all(folder).expect("readable");
    let names: Vec<&str> = found.iter().map(|one| one.student.as_str()).collect();
    assert_eq!(names, ["bob"]);
    let task = "v02.cu";
    assert_eq!(found[0].source(task, true), (SubmittedFile::Text("x".into()), vec![]));
    assert!(matches!(found[0].source(task, false).0, SubmittedFile::Refused(_)));
}

#[test]
fn misplaced_and_renamed_files_are_taken_with_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let cases: [(&str, &str, &[u8], &[&str]); 7] = [
        ("a", "hw/my/v02.cu", b"x", &["v02.cu was found as hw/my/v02.cu"]),
        ("b", "V02 (1).CU", b"x", &["v02.cu was found as V02 (1).CU"]),
        ("c", "v02-2.cu", b"x\r\ny", &["v02.cu was found as v02-2.cu"]),
        ("d", "v02.cu", b"\xef\xbb\xbfx", &["v02.cu begins with a byte order mark, which is left out"]),
        ("e", "v02.cu", b"x // \xe4", &["v02.cu is not in UTF-8, and was read as Latin-1"]),
        ("f", "v022.cu", b"x", &[]),
        ("g", "a/b/c/d/v02.cu", b"x", &[]),
    ];
    for (student, file, bytes, _) in cases {
        let path = folder.join(student).join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("written");
    }
    let found = all(folder).expect("readable");
    let texts = ["x", "x", "x\ny", "x", "x // ä"].map(|text| SubmittedFile::Text(text.into()));
    let expected = texts.into_iter().chain([SubmittedFile::Missing, SubmittedFile::Missing]);
    for ((submission, expected), (student, .., notes)) in found.iter().zip(expected).zip(cases) {
        assert_eq!(
            submission.source("v02.cu", true),
            (expected, notes.iter().map(|&note| note.to_owned()).collect()),
            "{student}"
        );
    }
    std::fs::write(folder.join("b/v02 - Copy.cu"), "y").expect("written");
    for zip in ["z.ZIP", "a.zip", "f/hw.zip"] {
        std::fs::write(folder.join(zip), "PK").expect("written");
    }
    std::fs::write(folder.join("a/hw/my/answers.toml"), "\"v02.a\" = 8\n").expect("written");
    let found = all(folder).expect("readable");
    let names: Vec<&str> = found.iter().map(|one| one.student.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g", "z"], "a.zip is unpacked");
    let why = |at: usize| refused(found[at].source("v02.cu", true).0);
    assert_eq!(why(1), "each of these can be v02.cu: V02 (1).CU, v02 - Copy.cu; hand in one");
    assert_eq!(why(5), "hw.zip is a zip file: unpack it, and grade again");
    assert_eq!(why(7), "the submission is a zip file: unpack it into a folder of its name, and grade again");
    let (answers, notes) = found[0].answers();
    assert_eq!(answers.get("v02.a").map(String::as_str), Some("8"));
    assert_eq!(notes, ["answers.toml was found as hw/my/answers.toml"]);
}

#[test]
fn files_side_by_side_are_a_submission_for_each_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("unpacked_1_2_v02")).expect("a folder");
    for (file, text) in [
        ("lovelaceada_12345_678910_v02.cu", "x"),
        ("lovelaceada_12345_678911_V03-1.cu", "y"),
        ("lovelaceada_12345_678912_answers.toml", "\"v02.a\" = 8\n"),
        ("noycebob_LATE_77_1_v02.cu", "x"),
        ("noycebob_LATE_77_2_v02-1.cu", "y"),
        ("o_brian_5_6_v02.zip", "PK"),
        ("Cat Stevens_9_assignsubmission_file_v02 (1).cu", "x"),
        ("v02_1.cu", "x"),
        ("class_1_2_list.csv", "x"),
        ("unpacked_1_2_v02.zip", "PK"),
    ] {
        std::fs::write(folder.join(file), text).expect("written");
    }
    let found = all(folder).expect("readable");
    let names: Vec<&str> = found.iter().map(|one| one.student.as_str()).collect();
    assert_eq!(
        names,
        ["Cat Stevens_9", "lovelaceada_12345", "noycebob_LATE_77", "o_brian_5", "unpacked_1_2_v02", "v02_1"]
    );
    let text = |text: &str| (SubmittedFile::Text(text.into()), vec![]);
    let ada = &found[1];
    assert_eq!([ada.source("v02.cu", false), ada.source("v03.cu", false)], [text("x"), text("y")]);
    assert_eq!(ada.source("v04.cu", false).0, SubmittedFile::Missing);
    assert_eq!(ada.answers(), (BTreeMap::from([("v02.a".into(), "8".into())]), vec![]));
    assert!(ada.time(&["v02.cu".into()]).is_some());
    assert_eq!(found[0].source("v02.cu", false), text("x"));
    assert_eq!(found[2].notes, ["Canvas marks it as late"]);
    let why = |at: usize| refused(found[at].source("v02.cu", true).0);
    assert_eq!(why(2), "each of these can be v02.cu: v02.cu, v02-1.cu; hand in one");
    assert!(why(3).contains("zip file: unpack it"), "{}", why(3));
}
