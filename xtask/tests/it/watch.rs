//! `watch`: a copy is checked again when it changes.

use std::fs;
use std::io::{BufRead, BufReader, Read as _};

use crate::fakes::{Learner, conflicts, passed, run_with_note};
use crate::files::spawn;

#[test]
fn a_copy_is_checked_again_when_it_changes_until_an_interrupt() {
    let learner = Learner::new();
    assert_eq!(run_with_note(&learner, "watch v05", "begin with: xtask start v05").0, 3);
    learner.run("start v05");
    learner.verdict(&conflicts());
    let mut child = spawn(&mut learner.command("watch v05"));
    let id = child.id().cast_signed();
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(120));
        // SAFETY: a signal to our own child, which is still there if a line that the test waits for does not come.
        unsafe { libc::kill(id, libc::SIGKILL) }
    });
    let (mut out, mut err) =
        (BufReader::new(child.stdout.take().expect("piped")), BufReader::new(child.stderr.take().expect("piped")));
    fn until(stream: &mut impl BufRead, words: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(words) {
            assert!(stream.read_line(&mut seen).expect("text") > 0, "no `{words}` in: {seen}");
        }
        seen
    }
    let first = until(&mut out, "next: change my/v05.cu");
    assert!(first.starts_with("my/v05.cu: ") && first.contains("failed   no-excess"), "{first}");
    // A copy that does not compile, or is gone for a moment, does not end it.
    fs::write(learner.path("my/v05.cu"), "x = ?\n").expect("a file");
    until(&mut out, "failed   compiles");
    fs::remove_file(learner.path("my/v05.cu")).expect("a file");
    until(&mut err, "my/v05.cu is gone; waiting for it\n");
    learner.verdict(&passed());
    fs::write(learner.path("my/v05.cu"), "void f() {}\n").expect("a file");
    let last = until(&mut out, "next: xtask start v05.launch\n");
    // SAFETY: our own child, which has not been waited for.
    unsafe { libc::kill(id, libc::SIGINT) };
    let (mut rest, mut errors) = (String::new(), String::new());
    out.read_to_string(&mut rest).expect("text");
    err.read_to_string(&mut errors).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{errors}");
    assert!(errors.ends_with("interrupted; 3 checks of my/v05.cu\n"), "{errors}");
    assert!(![first, last, rest, errors].concat().contains('\x1b'));
    assert!(learner.read("my/progress.toml").contains("checks = 3"));
}
