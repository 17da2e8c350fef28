//! Folders and programs that tests make, and the output of programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use catalog::files::{FolderLock, lock_folder};

/// Returns a folder of that name with nothing in it.
///
/// The name is fixed, so a second run of these tests in the same checkout waits for the first.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    static ALONE: OnceLock<FolderLock> = OnceLock::new();
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    ALONE.get_or_init(|| lock_folder(parent).expect("a lock"));
    let folder = parent.join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Puts `xtask` into a folder, and returns its path: the programs beside it are then those of the test, and not what
/// Cargo has built.
pub(crate) fn copy_xtask(folder: &Path) -> PathBuf {
    let (built, copy) = (env!("CARGO_BIN_EXE_xtask"), folder.join("xtask"));
    fs::hard_link(built, &copy).or_else(|_| fs::copy(built, &copy).map(drop)).expect("a copy of xtask");
    copy
}

/// Writes a script that can be started. A process of its own does it: as long as a file is open for writing in this
/// one, a child that another test starts at that moment holds it open, too, and the script cannot be started
/// (`ETXTBSY`).
pub(crate) fn program(path: &Path, text: &str) {
    use std::io::Write as _;

    let mut writer = Command::new("sh")
        .args(["-c", r#"cat > "$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut stdin = writer.stdin.take().expect("piped");
    stdin.write_all(text.as_bytes()).expect("a pipe");
    drop(stdin);
    assert!(writer.wait().expect("it ends").success(), "{}", path.display());
}

/// Starts a command whose output and errors are read from pipes.
pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Returns the other program with this command as its last arguments, and its variables.
pub(crate) fn started_by(mut outer: Command, command: &Command) -> Command {
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Returns the errors of a command that ends with this code and has no output.
#[track_caller]
pub(crate) fn errors(code: i32, command: &mut Command) -> String {
    let (ended, out, err) = streams(&command.output().expect("it starts"));
    assert_eq!((ended, out.as_str()), (code, ""), "{command:?}: {err}");
    err
}

/// Returns the exit code and both streams; nothing but plain text is in them.
#[track_caller]
pub(crate) fn streams(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(!out.contains('\x1b') && !err.contains('\x1b'), "escapes in a pipe: {out}{err}");
    (output.status.code().expect("an exit code"), out, err)
}
