//! rustc as a compiler of kernels: `kernels/rust/NAME.rs` → `ptx/NAME.ptx` and, by ptxas, `cubin/NAME.cubin` beside it.
//!
//! Its LLVM generates PTX, so it needs neither NVRTC nor a GPU; it does need `core` for the target, or its source.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use catalog::files::{FolderLock, files_ending_with, lock_folder};
use catalog::process;
use catalog::programs::all_on_path;
use catalog::provenance::{cubin_of, sha256, target_of};
use xtask_support::committed::write_changed;
use xtask_support::compile_cache::{self, CompileCache};
use xtask_support::cubin::{self, GPU};
use xtask_support::nvrtc::DoesNotCompile;
use xtask_support::{interrupt, output};

use crate::ptxas::Ptxas;

/// The crate that every kernel is linked with, from the root of the checkout.
pub const PRELUDE: &str = "kernels/rust/prelude.rs";
/// The target of kernels.
pub const TARGET: &str = "nvptx64-nvidia-cuda";
/// With the oldest GPU that the kernels of v01 to v08 are compiled for in C++ as well. `.loc` lines alone: with DWARF,
/// LLVM writes `.target …, debug`, with which ptxas optimises nothing, and a label that ptxas does not read. Loops over
/// registers must be unrolled whole. LLVM's comments name the calls that it inlined, which its `.loc` lines do not.
const OPTIONS: &str = "-Copt-level=3 -Ccodegen-units=1 -Cpanic=abort -Ctarget-cpu=sm_75 -Ctarget-feature=+ptx72 \
    -Cdebuginfo=line-directives-only -Zverbose-asm -Cllvm-args=-unroll-threshold=20000 --edition=2024 --crate-type=rlib \
    --cap-lints=allow --target=nvptx64-nvidia-cuda";

/// Time limit for one source: `core` takes a minute on a slow machine, and a constant may be without end.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// Output limit of rustc, whose errors count.
const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// Limit of address space in KiB, because a constant may be without end. A shell sets it, where there is one.
const LIMITED: &str = "ulimit -v 8388608; exec \"$0\" \"$@\"";

/// A signal ended a compiler.
#[derive(Debug, thiserror::Error)]
#[error("rustc ended ({status}) while it compiled {name}")]
pub struct Stopped {
    /// Name of the file that it read.
    pub(crate) name: String,
    pub status: std::process::ExitStatus,
    /// The end of its standard error.
    pub words: String,
}

/// Compiles all kernels in Rust, and returns how many there are, and how many results differ from the committed ones.
/// With `check`, nothing is written.
pub fn compile_all(root: &Path, rustc: Option<&Path>, check: bool) -> Result<(usize, usize)> {
    let (rustc, assembler) = (Rustc::find(root, rustc)?, Ptxas::find()?);
    let (mut n_sources, mut n_changed) = (0, 0);
    let sources = files_ending_with(&root.join("kernels/rust"), ".rs")?;
    for source in sources.iter().filter(|path| !path.ends_with(PRELUDE)) {
        n_sources += 1;
        let ptx = rustc.compile(source.strip_prefix(root)?, &std::fs::read_to_string(source)?)?;
        let (cubin, log) = assembler.assemble(&ptx, &rustc.folder)?;
        let path = cubin_of(root, source).context("a kernel of the checkout")?;
        let mut head = format!("// cubin: {} sha256:{}\n", path.strip_prefix(root)?.display(), sha256(&cubin));
        head.extend(cubin::resources(&log).iter().map(|line| format!("// sm_{GPU}: {line}\n")));
        let (first, rest) = ptx.split_once("\n\n").context("PTX without a header")?;
        let files = [(path, cubin), (target_of(root, source), format!("{first}\n{head}\n{rest}").into_bytes())];
        n_changed += usize::from(write_changed(root, files, check)? > 0);
    }
    Ok((n_sources, n_changed))
}

/// A compiler of kernels in Rust, with `core` for the target.
pub struct Rustc {
    program: PathBuf,
    /// `rustc 1.96.0 (…)`
    version: String,
    /// Hash of the prelude's source.
    prelude: String,
    root: PathBuf,
    /// The prelude, and `core` where the toolchain has only its source.
    libraries: PathBuf,
    /// Folder for what it writes.
    folder: PathBuf,
    /// Another process would write the same files. None in a sandbox, which has limits of its own.
    lock: Option<FolderLock>,
}

impl Rustc {
    /// Returns a compiler with `core` for the target: the given one, else one of the `PATH`, else rustup's nightly.
    pub fn find(root: &Path, given: Option<&Path>) -> Result<Self> {
        let nightly = || printed("rustup".as_ref(), &["which", "--toolchain=nightly", "rustc"]).map(PathBuf::from).ok();
        let found = all_on_path("rustc").into_iter().chain(nightly());
        let programs: Vec<PathBuf> = given.map_or_else(|| found.collect(), |path| vec![path.to_owned()]);
        let mut why = Vec::new();
        for program in &programs {
            match Self::prepare(root, program) {
                Ok(rustc) => return Ok(rustc),
                Err(error) => why.push(format!("{}: {error:#}", program.display())),
            }
        }
        if programs.is_empty() {
            why.push("none is on the PATH".to_owned());
        }
        bail!("no rustc compiles kernels here ({}); get what is missing with: cargo xtask setup --rust", why.join("; "))
    }

    /// Compiles what every kernel is linked with, where that is not done yet.
    fn prepare(root: &Path, program: &Path) -> Result<Self> {
        let (version, sysroot) = (printed(program, &["--version"])?, printed(program, &["--print=sysroot"])?);
        let rustlib = Path::new(&sysroot).join("lib/rustlib");
        let core = rustlib.join("src/rust/library/core/src/lib.rs");
        let is_installed = rustlib.join(TARGET).join("lib").is_dir();
        ensure!(is_installed || core.is_file(), "it has neither `core` for {TARGET} nor its source");
        // A rustup toolchain's own program: the one on the PATH chooses a toolchain anew each time.
        let own = Path::new(&sysroot).join("bin").join(program.file_name().unwrap_or_default());
        let program = if own.is_file() { own } else { program.to_owned() };
        let prelude = sha256(&std::fs::read(root.join(PRELUDE)).context(PRELUDE)?);
        let hash = sha256(format!("{version}{OPTIONS}{prelude}").as_bytes());
        let folder = root.join("target/rust_kernels").join(hash);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let lock = Some(lock_folder(&folder)?);
        let (root, libraries) = (root.to_owned(), folder.clone());
        let rustc = Self { program, version, prelude, root, libraries, folder, lock };
        if !is_installed && !rustc.folder.join("libcompiler_builtins.rlib").is_file() {
            output::note(&format!("compiling core for {TARGET}, once; about half a minute"));
            rustc.run(&["--crate-name=core"], &core)?;
            // Every crate is linked with it, and kernels call nothing of it.
            let empty = rustc.folder.join("compiler_builtins.rs");
            std::fs::write(&empty, "#![no_std]\n#![feature(compiler_builtins)]\n#![compiler_builtins]\n")?;
            rustc.run(&[], &empty)?;
        }
        if !rustc.folder.join("libprelude.rlib").is_file() {
            rustc.run(&[], &rustc.root.join(PRELUDE))?;
        }
        Ok(rustc)
    }

    /// Returns the compiler of a sandbox. All is prepared there, and it writes to `folder`.
    pub fn in_sandbox(program: &Path, libraries: &Path, root: &Path, folder: &Path) -> Self {
        let [program, libraries, root, folder] = [program, libraries, root, folder].map(Path::to_owned);
        // Nobody reads the header of what it writes.
        let [version, prelude] = [const { String::new() }; 2];
        Self { program, version, prelude, root, libraries, folder, lock: None }
    }

    /// Returns its program, the folder with the prelude, and what else it reads apart from the libraries of the system.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let sysroot = printed(&self.program, &["--print=sysroot"])?;
        let core = Path::new(&sysroot).join("lib/rustlib").join(TARGET);
        Ok([self.program.clone(), self.libraries.clone()].into_iter().chain(core.is_dir().then_some(core)).collect())
    }

    /// Returns the folder for what it compiles.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a hash of everything that goes into what it makes of a source.
    pub(crate) fn key(&self, path: &Path, text: &str) -> String {
        sha256(format!("{}\n{}\n{text}", self.libraries.display(), path.display()).as_bytes())
    }

    /// Returns its path and version.
    pub fn title(&self) -> String {
        format!("{}, {}", self.program.display(), self.version)
    }

    /// Returns the kept PTX of a source, which is compiled where there is none.
    pub(crate) fn kept_ptx(&self, cache: &CompileCache, path: &Path, text: &str) -> Result<PathBuf> {
        let key = self.key(path, text);
        match cache.known(&key, compile_cache::PTX) {
            Some(ptx) => Ok(ptx),
            None => cache.keep(&key, compile_cache::PTX, self.compile(path, text)?.as_bytes()),
        }
    }

    /// Returns the text of the PTX file of a kernel, header included. PTX and messages name `path`.
    pub fn compile(&self, path: &Path, text: &str) -> Result<String> {
        if let Some((at, word)) = text.lines().enumerate().find_map(|(at, line)| Some((at + 1, names_a_file(line)?))) {
            let why = format!(
                "error: a kernel in Rust is one file, and `{word}` names another\n --> {}:{at}:1\n",
                path.display()
            );
            return Err(DoesNotCompile(why).into());
        }
        let (source, ptx) = (self.folder.join("kernel.rs"), self.folder.join("kernel.s"));
        std::fs::write(&source, text)?;
        let named = source.strip_prefix(&self.root).unwrap_or(&source).display();
        let named = format!("--remap-path-prefix={named}={}", path.display());
        self.run(&["--extern=prelude", &format!("--emit=asm={}", ptx.display()), &named], &source)
            .map_err(|error| if error.is::<Stopped>() { error } else { DoesNotCompile(format!("{error}\n")).into() })?;
        Ok(format!(
            "// Generated by `cargo xtask ptx --rust`; edit the source instead.\n// source: {}\n// include: {}\n\
             // compiler: {}\n// options: {OPTIONS}\n{}",
            format_args!("{} sha256:{}", path.display(), sha256(text.as_bytes())),
            format_args!("{PRELUDE} sha256:{}", self.prelude),
            self.version,
            finished(&std::fs::read_to_string(ptx)?)
        ))
    }

    fn run(&self, options: &[&str], source: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        if cfg!(unix) && self.lock.is_some() {
            command = Command::new("sh");
            command.args(["-c", LIMITED]).arg(&self.program);
        }
        let name = source.strip_prefix(&self.root).unwrap_or(source);
        // Kernels use features without a stable form, which a stable compiler takes only so.
        command.env("RUSTC_BOOTSTRAP", "1").args(OPTIONS.split(' ')).args(options).arg(name).current_dir(&self.root);
        command.arg(format!("--remap-path-prefix={}/=", self.root.display()));
        command.arg("--out-dir").arg(&self.folder).arg("-L").arg(&self.libraries);
        let ended = process::run(command, TIME_LIMIT, MAX_OUTPUT_BYTES, &interrupt::happened)
            .with_context(|| format!("starting {}", self.program.display()))?;
        interrupt::check(format!("{} was not compiled", name.display()))?;
        ensure!(
            ended.stopped.is_none(),
            "error: it was still being compiled after {} s, and rustc was stopped; look for a constant or a macro without end",
            TIME_LIMIT.as_secs()
        );
        match ended.status.code() {
            Some(0) => Ok(()),
            Some(_) => bail!("{}", ended.errors.trim_end()),
            None => Err(Stopped { name: name.display().to_string(), status: ended.status, words: ended.errors }.into()),
        }
    }
}

/// Returns what names another file in a line, if something does.
fn names_a_file(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or_default().trim();
    if code.trim_start_matches("pub ").starts_with("mod ") && code.ends_with(';') {
        return Some("mod");
    }
    ["include!", "include_str!", "include_bytes!"].into_iter().find(|word| code.contains(word))
}

/// Returns the line that a program prints.
pub(crate) fn printed(program: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("starting {}", program.display()))?;
    ensure!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Completes what LLVM writes: bounds of launches become directives, and labels and sections for debuggers are left
/// out. A tile's address becomes its name: from a converted address ptxas knows no alignment, and merges no
/// neighbouring loads.
fn finished(ptx: &str) -> String {
    let mut text = String::new();
    let mut brace = 0; // where the body of the kernel starts
    let mut tiles = HashMap::new();
    let named = ptx.lines().filter_map(|line| line.strip_prefix("\t.file\t")?.trim_end().split_once(' '));
    let files = named.map(|(number, name)| (name.trim_matches('"'), number));
    let files: HashMap<&str, &str> = files.filter(|(name, _)| !name.starts_with('/')).collect();
    let mut inlined = HashMap::new();
    let operands = |word: &str, line: &str| -> Option<(String, String)> {
        let (to, from) = line.trim_start().strip_prefix(word)?.trim_end_matches(';').split_once(", ")?;
        Some((to.trim().to_owned(), from.to_owned()))
    };
    for line in ptx.lines() {
        if let Some(bound) = line.trim_start().strip_prefix("// .m") {
            let bound = format!(".m{bound}\n");
            text.insert_str(brace, &bound);
            brace += bound.len();
            continue;
        }
        if let Some((_, places)) = line.strip_prefix("\t.loc\t").and_then(|rest| rest.split_once("// ")) {
            text += &locs(places, &files, &mut inlined);
            continue;
        }
        // Comments of inline assembly are the kernel's.
        let own = line.strip_prefix("\t//").map_or(0, |_| "\t//".len());
        let code = line.get(own..).and_then(|rest| rest.find("//")).map_or(line, |end| line[..own + end].trim_end());
        tiles.extend(operands("cvta.shared.u64", code));
        if let Some((to, from)) = operands("cvta.to.shared.u64", code)
            && let Some(name) = tiles.get(&from)
        {
            text += &format!("\tmov.b64 \t{to}, {name};\n");
            continue;
        }
        if code == "{" {
            brace = text.len();
            inlined.clear();
        }
        let is_left_out = ["$L__tmp", "$L__func_", "\t.section"].iter().any(|start| code.starts_with(start))
            || code.starts_with("\t.file") && code.contains(" \"/");
        if !is_left_out && (line.is_empty() || !code.is_empty()) {
            text += code;
            text.push('\n');
        }
    }
    // ptxas wants a name for what was inlined.
    text + "\t.section\t.debug_str\n\t{\n$L__inlined:\n.b8 0\n\t}\n"
}

/// Returns `.loc` lines as NVRTC writes them, from LLVM's comment `FILE:3:5 @[ FILE:9:1 ]`: a place, and around it
/// those of the calls that were inlined. `inlined` has the places around each one so far. `core`'s files are left out.
fn locs(comment: &str, files: &HashMap<&str, &str>, inlined: &mut HashMap<String, Vec<String>>) -> String {
    let place = |text: &str| {
        let mut parts = text.trim_end_matches([' ', ']']).rsplitn(3, ':');
        let (column, line, number) = (parts.next()?, parts.next()?, files.get(parts.next()?)?);
        (line != "0").then(|| format!("{number} {line} {column}"))
    };
    let places: Vec<String> = comment.split(" @[ ").filter_map(place).collect();
    let mut text = if places.is_empty() { "\t.loc\t1 0 0\n" } else { "" }.to_owned();
    for (at, place) in places.iter().enumerate().rev() {
        let around = &places[at + 1..];
        if at == 0 || inlined.get(place).is_none_or(|known| known != around) {
            let call = around.first().map(|call| format!(", function_name $L__inlined, inlined_at {call}"));
            text += &format!("\t.loc\t{place}{}\n", call.unwrap_or_default());
            inlined.insert(place.clone(), around.to_vec());
        }
    }
    text
}
