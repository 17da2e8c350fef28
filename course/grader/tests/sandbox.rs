//! A program in the sandbox reaches nothing outside. It stands for a compiler that a source has taken over.
//!
//! This program plays all parts: it makes the canaries, starts itself in each sandbox, sets the limits there, and looks
//! around. A sandbox that the system does not have is left out with a message.

#![expect(clippy::print_stdout, reason = "its output is its answer")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

fn main() {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let first = arguments.first().map(|word| word.to_string_lossy().into_owned());
    match first.as_deref() {
        #[cfg(target_os = "linux")]
        Some("confined") => linux::confined(&arguments[1..]),
        Some("look") => look(&arguments[1..]),
        Some("sleep") => std::thread::sleep(std::time::Duration::from_secs(1000)),
        Some("spin") => while std::hint::black_box(true) {},
        // Arguments of a test runner.
        Some("--list") => {}
        #[cfg(target_os = "linux")]
        _ => linux::tests(),
        #[cfg(not(target_os = "linux"))]
        _ => println!("not run: the sandboxes are for Linux"),
    }
}

/// Tries every access, and prints those that succeeded.
fn look(arguments: &[OsString]) {
    let mut reached: BTreeMap<String, String> = BTreeMap::new();
    let mut note = |what: String, how: String| {
        reached.insert(what, how);
    };
    let [folder, port, tester] = arguments else { return };
    let folder = Path::new(folder);
    let files = [
        folder.join("canary"),
        folder.join("../canary"),
        "/etc/passwd".into(),
        "/etc/hostname".into(),
        "/proc/self/environ".into(),
        "/proc/1/root/etc/passwd".into(),
        "/dev/null".into(),
        "/sys/kernel/notes".into(),
        "/usr/bin/env".into(),
        "/bin/sh".into(),
    ];
    for file in files {
        if std::fs::read(&file).is_ok() {
            note(format!("read {}", file.display()), String::new());
        }
    }
    for place in ["/", "/tmp", "/job", "/bin", "/dev/shm", "."] {
        let file = Path::new(place).join("written");
        if std::fs::write(&file, "x").is_ok() {
            note(format!("write {}", file.display()), String::new());
        }
    }
    for (name, value) in std::env::vars() {
        // bubblewrap sets it.
        if name != "PWD" {
            note(format!("variable {name}"), value);
        }
    }
    #[cfg(unix)]
    if std::os::unix::net::UnixStream::connect(folder.join("socket")).is_ok() {
        note("unix socket".into(), String::new());
    }
    let port: u16 = port.to_string_lossy().parse().unwrap_or(0);
    if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
        note("tcp socket".into(), String::new());
    }
    if std::net::UdpSocket::bind("127.0.0.1:0").is_ok_and(|s| s.send_to(b"x", ("8.8.8.8", 53)).is_ok()) {
        note("the internet".into(), String::new());
    }
    #[cfg(target_os = "linux")]
    for number in 3..64 {
        if let Some(text) = linux::read_open(number) {
            note(format!("open file {number}"), text);
        }
    }
    #[cfg(target_os = "linux")]
    for done in linux::changes(tester.to_string_lossy().parse().unwrap_or(0)) {
        note(done.into(), String::new());
    }
    let mut memory: Vec<u8> = Vec::new();
    if memory.try_reserve_exact(2 << 30).is_ok() {
        note("2 GiB of memory".into(), String::new());
    }
    let root: Vec<String> = std::fs::read_dir("/")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    for name in root {
        if !["bin", "job", "lib", "lib64", "usr"].contains(&name.as_str()) {
            note(format!("/{name}"), String::new());
        }
    }
    let mut stdin = Vec::new();
    if std::io::stdin().read_to_end(&mut stdin).is_ok_and(|n| n > 0) {
        note("standard input".into(), String::new());
    }
    println!("{}", serde_json::to_string(&reached).unwrap_or_default());
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use catalog::process::{ProcessOutput, Stopped};
    use grader::commits;
    use grader::confine;
    use grader::sandbox::{self, Confined, JobLimits, Launcher, Sandbox};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::PathBuf;

    pub(super) fn confined(arguments: &[OsString]) {
        let word = |at: usize| -> u64 {
            let text = arguments.get(at).map(|text| text.to_string_lossy().into_owned());
            text.and_then(|text| text.parse().ok()).expect("a number")
        };
        let limits = [0, 1, 2, 3].map(word);
        let (options, program) =
            arguments[4..].split_at(arguments[4..].iter().position(|word| word == "--").expect("--"));
        let reads: Vec<PathBuf> = options.iter().skip(1).step_by(2).map(PathBuf::from).collect();
        let error = confine::become_program(&limits, &reads, &program[1..]);
        panic!("{error}");
    }

    /// Returns the text of a file that was open already.
    pub(super) fn read_open(number: i32) -> Option<String> {
        let mut bytes = [0_u8; 64];
        // SAFETY: the buffer is as long as stated; a number that is not a file is refused.
        let n = unsafe { libc::pread(number, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        let n = usize::try_from(n).ok()?;
        Some(String::from_utf8_lossy(&bytes[..n]).into_owned())
    }

    /// Tries calls that no library makes for a harmless program, and returns those that succeeded.
    pub(super) fn changes(tester: i32) -> Vec<&'static str> {
        // SAFETY: the strings end in a zero.
        let results = unsafe {
            [
                ("signal", libc::kill(tester, 0) == 0),
                ("truncate", libc::truncate(c"kept".as_ptr(), 0) == 0),
                ("open to truncate", libc::open(c"kept".as_ptr(), libc::O_RDONLY | libc::O_TRUNC) >= 0),
                ("chmod", libc::chmod(c"kept".as_ptr(), 0o777) == 0),
                ("trace", libc::ptrace(libc::PTRACE_SEIZE, tester, 0, 0) == 0),
            ]
        };
        results.into_iter().filter_map(|(name, succeeded)| succeeded.then_some(name)).collect()
    }

    struct Place {
        folder: PathBuf,
        launcher: Launcher,
        me: PathBuf,
    }

    impl Place {
        fn run(&self, sandbox: &Sandbox, limits: JobLimits, arguments: &[&str]) -> ProcessOutput {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let what = Confined {
                program: &self.me,
                reads: &[],
                job: &self.folder.join("job"),
                arguments: &arguments,
                limits,
                has_scratch: false,
            };
            sandbox.run(&self.launcher, &what).expect("it starts")
        }
    }

    pub(super) fn tests() {
        let me = std::env::current_exe().expect("this program");
        let folder = std::env::temp_dir().join(format!("grader-sandbox-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("job")).expect("a folder");
        std::fs::write(folder.join("canary"), "canary").expect("a file");
        std::fs::write(folder.join("job/kept"), "kept").expect("a file");
        let place = Place {
            launcher: Launcher {
                program: me.clone(),
                word: "confined".into(),
                libraries: sandbox::libraries(std::slice::from_ref(&me)).expect("ldd"),
                interrupted: || false,
            },
            folder,
            me,
        };
        let limits = JobLimits { seconds: 1, memory: 1 << 30, output: 1 << 20 };
        let bubblewrap = Sandbox::bubblewrap().map_err(|why| println!("not run: {why}")).ok();
        for sandbox in bubblewrap.into_iter().chain([Sandbox::Landlock]) {
            let probe = place.run(&sandbox, limits, &["--list"]);
            if !probe.status.success() {
                println!("not run: {sandbox:?} does not work here: {}", probe.errors);
                continue;
            }
            nothing_is_reached(&place, &sandbox, limits);
            endless_programs_end(&place, &sandbox, limits);
            println!("{sandbox:?} holds");
            // Landlock's filter does not let git open /dev/null for writing.
            if matches!(sandbox, Sandbox::Bubblewrap(_)) {
                commits_have_times(&place, &sandbox);
            }
        }
        commits_have_times(&place, &Sandbox::None);
        std::fs::remove_dir_all(&place.folder).expect("it was made");
    }

    fn nothing_is_reached(place: &Place, sandbox: &Sandbox, limits: JobLimits) {
        let folder = place.folder.display().to_string();
        let _ = std::fs::remove_file(place.folder.join("socket"));
        let socket = std::os::unix::net::UnixListener::bind(place.folder.join("socket")).expect("a socket");
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
        let port = tcp.local_addr().expect("bound").port().to_string();
        let open = std::fs::File::open(place.folder.join("canary")).expect("the canary");
        // SAFETY: a flag of an open file.
        unsafe { libc::fcntl(open.as_raw_fd(), libc::F_SETFD, 0) };
        let tester = std::process::id().to_string();
        let ended = place.run(sandbox, limits, &["look", &folder, &port, &tester]);
        let out = String::from_utf8_lossy(&ended.output);
        assert!(ended.status.success(), "{}{}", ended.status, ended.errors);
        assert_eq!(out.trim(), "{}", "something is reached");
        assert_eq!(std::fs::read(place.folder.join("job/kept")).expect("a file"), b"kept");
        // Control: without a sandbox the program reaches most of it.
        let bare = place.run(&Sandbox::None, limits, &["look", &folder, &port, &tester]);
        let out = String::from_utf8_lossy(&bare.output);
        for what in ["/canary", "/etc/passwd", "unix socket", "tcp socket", "write .", "signal", "truncate", "chmod"] {
            assert!(out.contains(what), "{what} is not reached without a sandbox: {out}");
        }
        for what in ["2 GiB", "open file", "variable HOME"] {
            assert!(!out.contains(what), "{what} is reached in spite of the limits: {out}");
        }
        std::fs::remove_file(place.folder.join("job/written")).expect("the bare program wrote it");
        std::fs::write(place.folder.join("job/kept"), "kept").expect("a file");
        drop((socket, tcp));
    }

    fn endless_programs_end(place: &Place, sandbox: &Sandbox, limits: JobLimits) {
        let spin = place.run(sandbox, limits, &["spin"]);
        // Bubblewrap passes the signal on as an exit code.
        let signal = spin.status.signal().or(spin.status.code().map(|code| code - 128));
        assert_eq!(signal, Some(libc::SIGXCPU), "{:?} {}", spin.status, spin.errors);
        let soon = JobLimits { seconds: 0, ..limits };
        let sleep = place.run(sandbox, soon, &["sleep"]);
        assert_eq!(sleep.stopped, Some(Stopped::Time));
    }

    /// The time of a commit is read, and nothing runs that the repository names in its configuration, even where no
    /// sandbox would stop it.
    fn commits_have_times(place: &Place, sandbox: &Sandbox) {
        const TIME: u64 = 1_796_144_400;
        let [folder, ran] = ["repository", "ran"].map(|name| place.folder.join(name));
        let _ = std::fs::remove_dir_all(&folder);
        let script = |more: &[&str]| {
            let mut command = std::process::Command::new("sh");
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forged_repository.sh"));
            let output = command.arg(&folder).arg(TIME.to_string()).arg(&ran).args(more).output().expect("a shell");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let n_ran = || std::fs::read_dir(&ran).expect("a folder").count();
        let file = folder.join("my/v02.cu");
        let time = || commits::time(&place.launcher, sandbox, &folder, std::slice::from_ref(&file));
        script(&[]);
        assert_eq!(time(), Some(TIME), "{sandbox:?}");
        script(&["hide"]);
        assert_eq!(time(), None, "nothing is fetched");
        assert_eq!(n_ran(), 0, "a program of the repository ran");
        script(&["run"]);
        assert_eq!(n_ran(), 4, "plain commands do not run all of them");
        std::fs::write(&file, "y\n").expect("a file");
        assert_eq!(time(), None, "the file is newer than the commit");
        std::fs::remove_dir_all(folder.join(".git")).expect("a folder");
        assert_eq!(time(), None, "no repository");
    }
}
