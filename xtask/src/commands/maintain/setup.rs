//! `cargo xtask setup`: NVRTC, the compiler that makes the committed PTX, with its headers, into `target/nvrtc`.
//! With `--rust`, what kernels in Rust need: `core` for GPUs, and ptxas into `target/ptxas`.
//!
//! NVIDIA's libraries are never part of the repository: a user who compiles kernels downloads them from PyPI, where
//! they are packed as wheels. Python is not needed; pip is tried after curl, because it may be configured with a
//! mirror.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};
use catalog::{files::StagedFolder, provenance};
use xtask_support::wheels::{IS_OFFERED, Wheel, directory, ptxas_directory};
use xtask_support::{CommandOutcome, find_nvrtc::Damaged, nvrtc::Nvrtc};
use xtask_support::{output, paths, wheels};

use crate::commands::maintain::wheel;
use crate::ptxas::Ptxas;
use crate::rustc::{Rustc, TARGET};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Get what kernels in Rust need instead: core for GPUs, and NVIDIA's assembler
    #[arg(long)]
    rust: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    if args.rust {
        return rust();
    }
    let is_own = |nvrtc: &Nvrtc| nvrtc.directory.starts_with(directory());
    match (Nvrtc::find(), wheels::damaged(&directory())) {
        (Ok(nvrtc), Some(file)) if is_own(&nvrtc) => {
            output::note(&format!("{} is not as it was unpacked", paths::display_path(&file)));
        }
        (Ok(nvrtc), _) => {
            output::note(&format!("nothing to do: {}", nvrtc.title()));
            return Ok(CommandOutcome::Passed);
        }
        (Err(error), _) if error.is::<Damaged>() => output::note(&error.to_string()),
        (Err(_), _) => {}
    }
    paths::checkout().context("setup fills target/nvrtc of a checkout, and this folder is not one")?;
    ensure!(
        IS_OFFERED,
        "NVIDIA's compiler is for Linux and Windows; elsewhere, the built-in compiler compiles copies of tasks"
    );
    fill(&directory(), &wheels::nvrtc())?;
    output::note(&format!("ready: {}", Nvrtc::find()?.title()));
    Ok(CommandOutcome::Passed)
}

/// Makes sure that a rustc compiles kernels. Machine code, and with it predictions, needs ptxas too.
fn rust() -> Result<CommandOutcome> {
    let root = paths::checkout().context("setup fills folders of a checkout, and this folder is not one")?;
    let found = Rustc::find(&root, None).or_else(|why| {
        let [target, source] = [["target", "add", TARGET], ["component", "add", "rust-src"]];
        let added = run_quietly(Command::new("rustup").args(target));
        added.or_else(|_| run_quietly(Command::new("rustup").args(source))).with_context(|| {
            format!("{why:#}; on Debian the packages rustc-web and rust-web-src have all, with /usr/bin on the PATH")
        })?;
        Rustc::find(&root, None)
    })?;
    output::note(&format!("ready: {}", found.title()));
    if Ptxas::find().is_err() && IS_OFFERED {
        fill(&ptxas_directory(), &wheels::ptxas())?;
        #[cfg(unix)]
        std::fs::set_permissions(
            ptxas_directory().join("nvidia/cuda_nvcc/bin/ptxas"),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )?;
    }
    match Ptxas::find() {
        Ok(_) => output::note("ready: ptxas 12.4"),
        Err(why) => output::note(&format!("{why}; without it there is no machine code and no prediction")),
    }
    Ok(CommandOutcome::Passed)
}

/// Downloads wheels into a folder, which is there whole or not at all.
fn fill(folder: &Path, wheels: &[Wheel]) -> Result<()> {
    let shown = || paths::display_path(folder);
    let new = StagedFolder::new(folder).with_context(shown)?;
    wheels.iter().try_for_each(|wheel| get(wheel, new.path()))?;
    wheels::record(new.path()).and_then(|()| new.finish()).with_context(shown)
}

/// Downloads a wheel, makes sure that it is the one, and unpacks it.
fn get(wheel: &Wheel, folder: &Path) -> Result<()> {
    type Way = fn(&Wheel, &Path) -> Result<()>;
    let ways: [(&str, Way); 2] = [("curl", with_curl), ("pip", with_pip)];
    let path = folder.join(&wheel.file);
    let mut why = Vec::new();
    for (name, way) in ways {
        let outcome = way(wheel, folder).and_then(|()| checked(&path, wheel.sha256));
        match outcome {
            Ok(bytes) => {
                let wanted = |name: &str| name.starts_with(wheel.folder);
                let n = wheel::unpack(&bytes, folder, wanted).with_context(|| format!("unpacking {}", wheel.file))?;
                ensure!(n > 0, "{} holds no file in {}", wheel.file, wheel.folder);
                return Ok(std::fs::remove_file(&path)?);
            }
            Err(error) => why.push(format!("{name}: {error:#}")),
        }
        let _ = std::fs::remove_file(&path);
    }
    bail!(
        "{} could not be fetched ({}); with a CUDA {} toolkit elsewhere, set TILE_NVRTC to its folder",
        wheel.package,
        why.join("; "),
        &wheel.version[..4]
    )
}

fn checked(path: &Path, sha256: &str) -> Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    let found = provenance::sha256(&bytes);
    ensure!(found == sha256, "the download is not the released file: sha256 {found}, expected {sha256}");
    Ok(bytes)
}

/// Downloads with curl, from the index that pip would use.
fn with_curl(wheel: &Wheel, folder: &Path) -> Result<()> {
    let index = ["PIP_INDEX_URL", "UV_INDEX_URL"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .unwrap_or_else(|| "https://pypi.org/simple".into());
    let page_url = format!("{}/{}/", index.trim_end_matches('/'), wheel.package);
    let page = run_quietly(curl().arg(&page_url))?;
    let url = link(&String::from_utf8_lossy(&page), &page_url, &wheel.file)
        .ok_or_else(|| anyhow!("{page_url} does not list {}", wheel.file))?;
    let target = folder.join(&wheel.file);
    run_quietly(curl().arg("--output").arg(target).arg(url))?;
    Ok(())
}

fn curl() -> Command {
    let mut command = Command::new("curl");
    command.args(["--fail", "--location", "--silent", "--show-error"]);
    command.args(["--retry", "2", "--connect-timeout", "10"]);
    if let Some(certificates) = std::env::var_os("PIP_CERT") {
        command.arg("--cacert").arg(certificates);
    }
    command
}

/// Knows about mirrors and proxies that we do not.
fn with_pip(wheel: &Wheel, folder: &Path) -> Result<()> {
    let platform = wheel.file.rsplit('-').next().unwrap_or_default();
    let platform = platform.trim_end_matches(".whl");
    run_quietly(
        Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"])
            .args(["--platform", platform, "--dest"])
            .arg(folder)
            .arg(format!("{}=={}", wheel.package, wheel.version)),
    )?;
    Ok(())
}

/// Runs a command, and returns its output, or its complaints when it fails.
fn run_quietly(command: &mut Command) -> Result<Vec<u8>> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    output::command(&words.iter().map(|word| without_password(word)).collect::<Vec<_>>().join(" "));
    let output = command.stdin(Stdio::null()).output().context("it is not here")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.trim().lines().last().unwrap_or("it failed and printed no error");
    ensure!(output.status.success(), "{}", without_password(last.trim()));
    Ok(output.stdout)
}

/// Returns an address as it may be shown: `https://…@mirror/simple`.
fn without_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    match rest.split('/').next().and_then(|host| host.rfind('@')) {
        Some(at) => format!("{scheme}://…{}", &rest[at..]),
        None => word.to_owned(),
    }
}

/// Returns the address of a file that a page of an index names: `<a href="…/FILE#sha256=…">`.
fn link(page: &str, page_url: &str, file: &str) -> Option<String> {
    let address = page
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split(['"', '#']).next())
        .find(|address| address.rsplit('/').next() == Some(file))?;
    let host_ends = page_url.find("://").map(|at| at + 3)?;
    let host_ends = host_ends + page_url[host_ends..].find('/')?;
    Some(match address {
        whole if whole.contains("://") => whole.to_owned(),
        rooted if rooted.starts_with('/') => format!("{}{rooted}", &page_url[..host_ends]),
        beside => format!("{page_url}{beside}"),
    })
}
