//! Sources that the front end reads, refuses by name, explains, and survives.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cuda::message::Severity;
use cuda::parse::parse;
use cuda::render::render;
use cuda::{Input, Message, Sources};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folders with the sources in the language of the compiler, and with others.
const FOLDERS: [&str; 9] = [
    "kernels",
    "kernels/bench",
    "steps",
    "book/exhibits/kernels",
    "tests/data/solutions",
    "tests/data/corpus",
    "tests/fixtures/diagnosed",
    "tests/fixtures/clean",
    "tests/fixtures/unseen",
];

fn files(folder: &Path, extension: &str, deep: bool, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && deep {
            files(&path, extension, deep, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// Returns the sources of the repository with their names.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        files(&root().join(folder), "cu", folder != "kernels", &mut found);
    }
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        (name, std::fs::read_to_string(path).unwrap())
    };
    found.into_iter().map(named).collect()
}

/// Returns the headers of the ladder, and those beside a source.
fn headers(name: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root().join("kernels"), "cuh", false, &mut found);
    files(root().join(name).parent().unwrap(), "cuh", false, &mut found);
    let named = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    found.iter().map(|path| (named(path), std::fs::read_to_string(path).unwrap())).collect()
}

fn messages(name: &str, text: &str, headers: &[(String, String)]) -> (Sources, Vec<Message>) {
    let (_, sources, messages) = parse(Input { name, text, headers });
    (sources, messages)
}

#[test]
fn sources_of_the_repository_are_read_or_refused_by_name() {
    let (mut report, mut read) = (String::new(), 0);
    for (name, text) in sources() {
        let (sources, messages) = messages(&name, &text, &headers(&name));
        let step = name.split('/').nth(1).unwrap_or_default();
        let is_later = ["v1", "probe", "calibrate"].iter().any(|later| step.starts_with(later));
        read += usize::from(messages.is_empty());
        let Some(first) = messages.first() else { continue };
        if is_later && messages.iter().any(|message| message.severity == Severity::Unsupported) {
            // Steps whose language is not the compiler's: refused, for one reason or the other.
            continue;
        }
        writeln!(report, "{name}").unwrap();
        let has_refusal = messages.iter().any(|message| message.severity == Severity::Unsupported);
        for message in messages.iter().filter(|message| !has_refusal || message.severity == Severity::Unsupported) {
            let place = sources.place(message.span);
            writeln!(report, "    {}: {}", place.line, message.text).unwrap();
        }
        assert!(sources.place(first.span).line > 0);
    }
    insta::assert_snapshot!(format!("{read} sources are read.\n\n{report}"));
}

#[test]
fn beginners_mistakes_are_explained() {
    let headers = headers("kernels/common.cuh");
    let mut report = String::new();
    let cases = include_str!("beginners.txt");
    for case in cases.split("=== ").skip(1) {
        let (name, text) = case.split_once('\n').unwrap();
        let name = format!("my/{name}.cu");
        let (mut sources, mut messages) = messages(&name, text, &headers);
        if messages.is_empty()
            && let Err(found) = cuda::compile(&Input { name: &name, text, headers: &headers })
        {
            (messages, sources) = found;
        }
        assert!(!messages.is_empty(), "{name} has no message");
        for message in &messages {
            report += &render(message, &sources);
            report.push('\n');
        }
    }
    insta::assert_snapshot!(report);
}

#[test]
fn what_is_legal_compiles() {
    for case in include_str!("legal.txt").split("=== ").skip(1) {
        let (name, text) = case.split_once('\n').unwrap();
        if let Err((messages, sources)) = cuda::compile(&Input { name, text, headers: &[] }) {
            panic!("{}", render(&messages[0], &sources));
        }
    }
}

/// Random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Returns `text` with a few bytes or lines removed, repeated, or exchanged.
fn changed(text: &str, random: &mut Random) -> String {
    const PIECES: &[u8] = b"(){}[]<>;,:.#\"'*&=/\\ \n-+?ax0";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let (at, length) = (random.below(bytes.len()), 1 + random.below(40));
        let end = (at + length).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.truncate(at),
            2 => {
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            3 if at < bytes.len() => bytes[at] = PIECES[random.below(PIECES.len())],
            _ => bytes.insert(at.min(bytes.len()), PIECES[random.below(PIECES.len())]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn changed_sources_end_in_messages() {
    let rounds: usize = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random(1);
    let headers = headers("kernels/common.cuh");
    let mut sources = sources();
    sources.extend([("beginners".to_owned(), include_str!("beginners.txt").to_owned())]);
    for (name, text) in &sources {
        for _ in 0..rounds {
            let text = changed(text, &mut random);
            let (sources, messages) = messages(name, &text, &headers);
            for message in &messages {
                assert!(render(message, &sources).contains("-->"));
            }
        }
    }
}

#[track_caller]
fn ends_soon(text: &str) {
    let start = Instant::now();
    let headers = [("self.cuh".to_owned(), "#include \"self.cuh\"\n#include \"self.cuh\"\n".to_owned())];
    let (sources, messages) = messages("bomb.cu", text, &headers);
    let shown: String = messages.iter().map(|message| render(message, &sources)).collect();
    let has_error = messages.iter().any(|message| message.severity != Severity::Warning);
    assert!(has_error, "no message: {text:.60}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}: {shown:.400}", start.elapsed());
}

/// Texts that nest, or go on, when they are repeated.
const NESTED: &str = "(@[@{@-@!@*@&@++@a = @a ? b : @a ? @(int)@sizeof @if (a) @for (;;) @do @f<@\
    a.b@a->@a[0]@f()@a + @a, @\
    a < @int*@else if (a) @T(@T{@{{@#@case 0: @static_cast<int>(@#pragma unroll\nif (a)\n@if (a) {} else @int (*@int a[@\
    void f(int @x = {@asm(@let a = @for a in @as f32 @\
    struct A { @template <int a = @extern \"C\" { @auto a = [](@&[@'@\"@\"a\" @/*@\
    0..@$@é@a ** @**";

#[test]
fn bombs_end_in_messages() {
    let body = |text: String| format!("__device__ void f() {{ {text} }}");
    let many = |text: &str| text.repeat(5_000);
    for nested in NESTED.split('@') {
        ends_soon(&body(many(nested)));
        ends_soon(&many(nested));
    }
    ends_soon(&"(".repeat(100_000));
    ends_soon(&"int a;\n".repeat(1_000_000));
    let doubling: String = (0..40).map(|i| format!("#define M{i} M{} M{}\n", i + 1, i + 1)).collect();
    ends_soon(&format!("{doubling}M0"));
    let calls: String = (0..40).map(|i| format!("#define F{i}(x) F{}(x x)\n", i + 1)).collect();
    ends_soon(&format!("{calls}F0(a)"));
    ends_soon(&format!("#define F(x) x\n{}", many("F(")));
    ends_soon(&format!("#define F(x) x\n{}a{}", "F(".repeat(5000), ")".repeat(5000)));
    let texts: String = (0..40).map(|i| format!("#define S{i}(x) S{}(#x)\n", i + 1)).collect();
    ends_soon(&format!("{texts}S0(\"\\\")"));
    let pastes: String = (0..40).map(|i| format!("#define P{i}(x) P{}(x##x)\n", i + 1)).collect();
    ends_soon(&format!("{pastes}P0(abc)"));
    ends_soon("#include \"self.cuh\"");
    ends_soon(&format!("#if {}1\n#endif", "(".repeat(100_000)));
    ends_soon(&format!("#if {}1\n#endif", "-".repeat(100_000)));
    ends_soon(&"#if 1\n".repeat(100_000));
    ends_soon(&format!("const char* a = {};", format!("\"{}\" ", "a".repeat(1000)).repeat(900)));
    ends_soon(&format!("int a = {};", "1 + ".repeat(30_000)));
}
