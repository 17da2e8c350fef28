//! The time of the last commit of a submission that is a git repository.
//!
//! git runs in the sandbox. A repository can name programs in its configuration, and there they reach as little as a
//! kernel does; the command line, besides, switches off all that these calls could start. The commands are plumbing,
//! which no alias, pager or format changes. Without a sandbox, git is not run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::sandbox::{Confined, JobLimits, Launcher, Sandbox, libraries};
use crate::submissions::{LARGEST_SOURCE, SubmittedFile, decoded, read};

/// The repository without its work tree, so that no index, attribute or filter is read, and no protocol by which a
/// missing object would be fetched.
const OPTIONS: [&str; 6] =
    ["--git-dir=.git", "--bare", "--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"];
#[rustfmt::skip]
const SETTINGS: [&str; 10] = [
    "core.fsmonitor=", "core.hooksPath=/dev/null", "safe.directory=*", "protocol.allow=never", "protocol.ext.allow=never",
    "protocol.file.allow=never", "protocol.git.allow=never", "protocol.http.allow=never", "protocol.https.allow=never",
    "protocol.ssh.allow=never",
];
const LIMITS: JobLimits = JobLimits { seconds: 5, memory: 4 << 30, output: 2 * LARGEST_SOURCE as usize };

/// Returns the committer time, in seconds since 1970, of the last commit that changed one of some files in a folder.
/// There is none where it is no repository, where a file differs from the committed one, or where git does not run.
pub fn time(launcher: &Launcher, sandbox: &Sandbox, folder: &Path, files: &[PathBuf]) -> Option<u64> {
    // A file there leads to another folder.
    folder.join(".git").symlink_metadata().ok().filter(|it| it.is_dir())?;
    let job = folder.canonicalize().ok()?;
    let git = catalog::programs::on_path("git")?.canonicalize().ok()?;
    let mut reads: Vec<PathBuf> = libraries(std::slice::from_ref(&git)).ok()?.into_iter().collect();
    reads.push("/dev/null".into()); // git opens it when it starts
    let run = |words: &[OsString]| {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let head = OPTIONS.into_iter().chain(settings).map(OsString::from);
        let arguments: Vec<OsString> = head.chain(words.iter().cloned()).collect();
        let (program, limits, has_scratch) = (&*git, LIMITS, false);
        let confined = Confined { program, reads: &reads, job: &job, arguments: &arguments, limits, has_scratch };
        let ended = sandbox.run(launcher, &confined).ok()?;
        (ended.status.success() && ended.stopped.is_none()).then_some(ended.output)
    };
    let mut words = ["rev-list", "--timestamp", "-1", "HEAD", "--"].map(OsString::from).to_vec();
    for file in files {
        let name = file.strip_prefix(folder).ok()?;
        let mut object = OsString::from("HEAD:");
        object.push(name);
        let committed = decoded(run(&["cat-file".into(), "blob".into(), object])?)?.0;
        if read(file, LARGEST_SOURCE, "a file", &mut Vec::new()) != SubmittedFile::Text(committed) {
            return None;
        }
        words.push(name.into());
    }
    let line = String::from_utf8(run(&words)?).ok()?;
    line.split_whitespace().next().filter(|_| !files.is_empty())?.parse().ok()
}
