//! `watch` and `predict` on a terminal: what is redrawn, what Ctrl-C does, and in which state the terminal is left.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ExitStatus};
use std::ptr::null_mut;

use crate::fakes::{Learner, conflicts, passed};

/// A command that runs on a pseudo-terminal of its own.
struct Terminal {
    /// The side of the person.
    person: File,
    child: Child,
    /// All that was shown so far, and how much of it [`Terminal::until`] has gone past.
    shown: String,
    seen: usize,
}

impl Terminal {
    fn start(learner: &Learner, words: &str, variables: &[(&str, &str)]) -> Self {
        let size = libc::winsize { ws_row: 50, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        let (mut person, mut program) = (-1, -1);
        // SAFETY: both results are live locals; neither a name nor settings are asked for.
        let opened =
            unsafe { libc::openpty(&mut person, &mut program, null_mut(), null_mut(), (&raw const size).cast_mut()) };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        for side in [person, program] {
            // SAFETY: just opened. Children of other tests must not keep this terminal open.
            unsafe { libc::fcntl(side, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        // SAFETY: just opened, and owned by nobody else.
        let (person, program) = unsafe { (File::from_raw_fd(person), File::from_raw_fd(program)) };
        let side = || program.try_clone().expect("a descriptor");
        let mut command = learner.command(words);
        command.stdin(side()).stdout(side()).stderr(side());
        command.env_remove("NO_COLOR").envs(variables.iter().copied());
        let own_session = || {
            // A test runner in the background ignores Ctrl-C, and its children inherit that.
            // SAFETY: all may be called between fork and exec; descriptor 0 is the terminal.
            let done = unsafe {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::setsid() >= 0 && libc::ioctl(0, libc::TIOCSCTTY as _, 0) >= 0
            };
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: the closure only makes system calls.
        unsafe { command.pre_exec(own_session) };
        let child = command.spawn().expect("it starts");
        Self { person, child, shown: String::new(), seen: 0 }
    }

    /// Returns the text that is shown from here on, up to and with some words.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        let start = self.seen;
        loop {
            if let Some(at) = self.shown[start..].find(words) {
                self.seen = start + at + words.len();
                return self.shown[start..self.seen].to_owned();
            }
            assert!(self.more(), "no `{words}` in: {:?}", &self.shown[start..]);
        }
    }

    /// Reads on; `false` once the program has ended.
    fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let mut unfinished = Vec::new();
        loop {
            let mut ready = libc::pollfd { fd: self.person.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one live record. So that a program that shows nothing more is a failure, and not an endless test.
            let n_ready = unsafe { libc::poll(&mut ready, 1, PATIENCE_MS) };
            assert!(n_ready > 0, "nothing happens any more after {:?}", self.shown);
            // A terminal that nobody has open any more is an error.
            let n = self.person.read(&mut bytes).unwrap_or(0);
            unfinished.extend(&bytes[..n]);
            match std::str::from_utf8(&unfinished) {
                Ok(text) => self.shown.push_str(text),
                Err(_) if n > 0 => continue,
                Err(error) => assert!(n > 0, "{error}"),
            }
            return n > 0;
        }
    }

    fn types(&mut self, keys: &str) {
        self.person.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Settings of the terminal: echo, line by line, and so on.
    fn settings(&self) -> [libc::tcflag_t; 4] {
        // SAFETY: zeros are a value of it.
        let mut settings: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and the result a live local.
        unsafe { libc::tcgetattr(self.person.as_raw_fd(), &mut settings) };
        [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
    }

    /// Returns the rest, and how it ended.
    fn end(&mut self) -> (String, ExitStatus) {
        while self.more() {}
        let status = self.child.wait().expect("it ends");
        (self.shown[self.seen..].to_owned(), status)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Fails for a process that has ended, which is right.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// For one check on a machine that has much else to do.
const PATIENCE_MS: libc::c_int = 100_000;
const CLEAR: &str = "\x1b[H\x1b[2J";
const INTERRUPT: &str = "\x03";

#[test]
fn a_save_redraws_the_screen_and_an_interrupt_leaves_the_terminal_as_it_was() {
    let learner = Learner::started();
    learner.verdict(&conflicts());
    let mut terminal = Terminal::start(&learner, "watch v05", &[]);
    let before = terminal.settings();
    let watching = "watching my/v05.cu; Ctrl-C ends it\r\n";
    let first = terminal.until("then: xtask check v05\r\n");
    assert!(first.starts_with(watching), "{first:?}");
    let (_, screen) = first.split_once(CLEAR).expect("a cleared screen");
    assert!(screen.starts_with("my/v05.cu: "), "{screen:?}");
    assert!(screen.contains("\x1b[1;31mfailed "), "{screen:?}");
    // How to end it is on the screen that is looked at.
    terminal.until(watching);

    learner.verdict(&passed());
    fs::write(learner.path("my/v05.cu"), "void f() {}\n").expect("a file");
    let second = terminal.until(watching);
    assert_eq!(second.matches(CLEAR).count(), 1, "{second:?}");
    assert!(second.contains("next: xtask start v05.launch\r\n"), "{second:?}");

    terminal.types(INTERRUPT);
    terminal.until("interrupted; 2 checks of my/v05.cu\r\n");
    assert_eq!(terminal.settings(), before);
    let all = terminal.shown.clone();
    // No hidden cursor, no other screen, no cleared history, and no colour that goes on.
    assert!(!all.contains("\x1b[?") && !all.contains("\x1b[3J"), "{all:?}");
    let last = all.rfind("\x1b[").map(|at| &all[at..]).unwrap_or_default();
    assert!(last.starts_with("\x1b[0m"), "{last:?}");
    let (rest, status) = terminal.end();
    assert_eq!((rest.as_str(), status.code()), ("", Some(130)));
    assert!(learner.read("my/progress.toml").contains("checks = 2"));
}

#[test]
fn records_and_no_color_have_no_escapes_on_a_terminal() {
    let learner = Learner::started();
    learner.verdict(&passed());
    let mut records = Terminal::start(&learner, "watch v05 --json", &[("NO_COLOR", "1")]);
    records.until("\"verdict\":");
    records.types(INTERRUPT);
    records.until("interrupted; 1 check of my/v05.cu\r\n");
    assert!(!records.shown.contains('\x1b'), "{:?}", records.shown);
    assert_eq!(records.end().1.code(), Some(130));

    let mut plain = Terminal::start(&learner, "check v05", &[("NO_COLOR", "1")]);
    let (shown, status) = plain.end();
    assert!(!shown.contains('\x1b') && shown.contains("passed "), "{shown:?}");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn questions_are_asked_one_after_the_other() {
    let learner = Learner::new();
    let mut terminal = Terminal::start(&learner, "predict v05", &[]);
    let before = terminal.settings();
    let prompt = "answer, or Enter to skip: ";
    let first = terminal.until(prompt);
    assert!(first.contains("How many lanes has a warp?"), "{first:?}");
    terminal.types("many\n");
    assert!(terminal.until(prompt).contains("`many` is not a number\r\n"));
    terminal.types("31\n");
    assert!(terminal.until(prompt).contains("it is not 31\r\n"));
    terminal.types("32\n");
    let second = terminal.until(prompt);
    assert!(second.contains("So it is built.") && second.contains("Which lanes conflict?"), "{second:?}");
    // Earlier answers are kept, so an interrupt simply ends it: exit code 130.
    terminal.types(INTERRUPT);
    while terminal.more() {}
    assert_eq!(terminal.settings(), before);
    assert_eq!(terminal.end().1.signal(), Some(libc::SIGINT));
    let progress = learner.read("my/progress.toml");
    assert!(progress.contains("answer = \"32\"") && progress.contains("tries = 2"), "{progress}");

    // The next time only the open one is asked; the end of the input ends it, as an empty answer skips it.
    let mut terminal = Terminal::start(&learner, "predict v05", &[]);
    assert!(!terminal.until(prompt).contains("How many lanes"));
    terminal.types("\x04");
    let (rest, status) = terminal.end();
    assert_eq!((rest.as_str(), status.code()), ("\r\n", Some(0)));
}
