//! Holds the promises of ARCHITECTURE.md that the sources show, and that each of the others names its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tests::{files_under, read, root};

/// Returns the code of a file without its unit tests and comments.
fn code(path: &Path) -> String {
    let is_test = path.file_stem().is_some_and(|name| name == "tests" || name == "testing" || name == "fuzz");
    let text = std::fs::read_to_string(path).expect("text");
    let end = text.find("mod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    if is_test { String::new() } else { lines.collect::<Vec<_>>().join("\n") }
}

#[test]
fn every_promise_names_the_tests_that_hold_it() {
    let text = read("ARCHITECTURE.md");
    let section = text.split("\n## ").find(|part| part.starts_with("Invariants")).expect("the section");
    let promises: Vec<&str> = section.split("\n- ").skip(1).collect();
    assert!(promises.len() >= 7, "{}", promises.len());
    for promise in promises {
        let (_, held) = promise.split_once("Held by ").unwrap_or_else(|| panic!("nothing holds: {promise}"));
        let tests: Vec<(&str, &str)> = held
            .split('`')
            .filter_map(|word| word.split_once("::").filter(|(file, _)| file.ends_with(".rs")))
            .collect();
        assert!(!tests.is_empty(), "no test holds: {promise}");
        for (file, name) in tests {
            assert!(read(file).contains(&format!("fn {name}(")), "{file} has no test {name}");
        }
    }
}

#[test]
fn the_emulator_does_no_input_or_output() {
    #[rustfmt::skip]
    const FORBIDDEN: [&str; 10] = [
        "std::fs", "std::io", "std::net", "std::env", "std::process", "Instant::", "SystemTime::",
        "thread_local!", "static mut", "println!",
    ];
    const CRATES: [&str; 10] =
        ["arithmetic", "counters", "cpp_tokens", "decode", "diagnostics", "program", "ptx", "sass", "simt", "timing"];
    for krate in CRATES {
        for path in files_under(&root().join("emulator").join(krate).join("src"), "rs") {
            let code = code(&path);
            let found: Vec<_> = FORBIDDEN.iter().filter(|word| code.contains(**word)).collect();
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    #[rustfmt::skip]
    const CRATES: [&str; 21] = [
        "emulator/counters", "emulator/cpp_tokens", "emulator/decode", "emulator/diagnostics", "emulator/nvcuda", "emulator/program",
        "emulator/ptx", "emulator/reschedule", "emulator/sass", "emulator/timing", "course/catalog", "course/judge",
        "course/records", "course/sha256", "course/step_cli", "course/tasks", "xtask/teach",
        "book/bookbuild", "book/figures", "tests", "xtask/start",
    ];
    // The unit tests of `decode` need a function of the type that vector code has.
    const FORBIDS: [&str; 2] = ["#![forbid(unsafe_code)]", "#![cfg_attr(not(test), forbid(unsafe_code))]"];
    for krate in CRATES {
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| root().join(krate).join(file));
        let mut roots = roots.iter().filter(|path| path.exists()).peekable();
        assert!(roots.peek().is_some(), "{krate} has neither a library nor a program");
        for path in roots {
            let code = code(path);
            assert!(FORBIDS.iter().any(|line| code.contains(line)), "{}", path.display());
        }
    }
}

/// Folders of all members of the workspace.
fn members() -> BTreeSet<String> {
    let manifest = read("Cargo.toml");
    let list = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)).expect("a list of folders");
        line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let excluded = list("exclude = ");
    let folders = list("members = ").into_iter().flat_map(|member| match member.strip_suffix("/*") {
        None => vec![member],
        Some(parent) => {
            let entries = std::fs::read_dir(root().join(parent)).expect("a folder");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            names.map(|name| format!("{parent}/{}", name.display())).collect()
        }
    });
    let is_crate = |folder: &String| root().join(folder).join("Cargo.toml").exists();
    folders.filter(|folder| is_crate(folder) && !excluded.contains(folder)).collect()
}

/// Returns the name of the crate in a folder: that of the folder, except for those in `xtask`.
fn crate_name(folder: &str) -> String {
    match folder.split_once('/') {
        Some(("xtask", name)) => format!("xtask_{name}"),
        Some((_, name)) => name.to_owned(),
        None => folder.to_owned(),
    }
}

#[test]
fn dependencies_point_one_way() {
    type Allowed = BTreeMap<String, Vec<String>>;
    let mut allowed: BTreeMap<String, Allowed> = toml::from_str(&read("tests/data/dependencies.toml")).expect("lists");
    let [code, in_tests] = ["code", "tests"].map(|section| allowed.remove(section).expect("a section"));
    let members = members();
    for folder in code.keys().chain(in_tests.keys()) {
        assert!(folder.ends_with("/*") || members.contains(folder), "{folder} is no member of the workspace");
    }
    let ours: BTreeSet<String> = members.iter().map(|folder| crate_name(folder)).collect();
    for krate in &members {
        let all = || code.get(&format!("{}/*", krate.split('/').next()?));
        let Some(may) = code.get(krate).or_else(all) else { panic!("{krate} has no entry") };
        let manifest: toml::Table = read(format!("{krate}/Cargo.toml")).parse().expect("a manifest");
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let tables = targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
        let tables: Vec<&toml::Table> = tables.chain([&manifest]).collect();
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let extra = in_tests.get(krate).filter(|_| section == "dev-dependencies");
            let sections = tables.iter().filter_map(|table| table.get(section)?.as_table());
            let wrong: Vec<&String> = sections
                .flat_map(toml::Table::keys)
                .filter(|name| ours.contains(*name) || *name == "cudarc")
                .filter(|name| !may.contains(name) && !extra.is_some_and(|extra| extra.contains(name)))
                .collect();
            assert!(wrong.is_empty(), "{krate} depends on {wrong:?} ({section})");
        }
    }
}

/// Folders of the repository whose files may name others by their paths.
const FOLDERS: [&str; 8] = ["book", "course", "emulator", "fuzz", "kernels", "steps", "tests", "xtask"];

/// Returns the sources and documents of the repository, as paths from its root.
fn texts() -> Vec<PathBuf> {
    let built = |path: &PathBuf| path.iter().any(|part| part == "target" || part == "my");
    let documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from);
    let files = ["rs", "md"]
        .into_iter()
        .flat_map(|ending| FOLDERS.into_iter().flat_map(move |folder| files_under(&root().join(folder), ending)));
    let from_root = |path: PathBuf| path.strip_prefix(root()).expect("inside").to_path_buf();
    documents.into_iter().chain(files.map(from_root).filter(|path| !built(path))).collect()
}

/// Returns the words between backticks in comments of sources and in documents for which `is_missing` holds, each with
/// its file.
fn quoted_and_missing(mut is_missing: impl FnMut(&Path, &str) -> bool) -> String {
    let mut missing = String::new();
    for file in texts() {
        let is_source = file.extension().is_some_and(|ending| ending == "rs");
        let text = read(&file);
        let lines =
            text.lines().filter_map(|line| if is_source { line.find("//").map(|at| &line[at..]) } else { Some(line) });
        let words = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
        for word in words.filter(|word| is_missing(&file, word)) {
            let _ = writeln!(missing, "{}: {word}", file.display());
        }
    }
    missing
}

/// Returns whether a word is the path of one file of ours: neither a pattern, such as `steps/vNN`, nor a file that
/// somebody is still to write.
fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
    let (first, rest) = word.split_once('/').unwrap_or_default();
    let is_ours = FOLDERS.contains(&first) || word.ends_with(".rs");
    is_ours && first != "my" && !rest.is_empty() && word.chars().all(is_plain) && !word.contains("v14")
}

#[test]
fn paths_in_comments_and_documents_exist() {
    let missing = quoted_and_missing(|file, word| {
        let path = word.split_once("::").map_or(word, |(path, _)| path);
        // A path begins at the root, or at a folder that the file is in.
        is_path(path) && !file.ancestors().skip(1).any(|from| root().join(from).join(path).exists())
    });
    assert!(missing.is_empty(), "no such files:\n{missing}");
}

/// Returns whether the sources of a crate define a module, function, type or constant of this name, or pass it on.
fn defines(source: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(name).any(|(at, _)| {
        let (before, after) = (source[..at].trim_end(), &source[at + name.len()..]);
        let keyword = before.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        let is_whole = !source[..at].ends_with(is_name) && !after.starts_with(is_name);
        const KEYWORDS: [&str; 8] = ["mod", "fn", "struct", "enum", "trait", "type", "const", "static"];
        // A field or a name that the crate passes on.
        let is_field = keyword == "pub" || before.ends_with(')');
        let is_passed_on = before.ends_with(['{', ',']) || source[..at].ends_with("::");
        is_whole && (KEYWORDS.contains(&keyword) || is_field || is_passed_on)
    })
}

/// A namespace of CUDA C++, whose first part is also the name of a crate.
const CUDA_NAMESPACE: &str = "nvcuda::wmma";

#[test]
fn modules_in_comments_and_documents_exist() {
    let sources: BTreeMap<String, String> = members()
        .iter()
        .map(|folder| {
            let files = files_under(&root().join(folder).join("src"), "rs");
            (crate_name(folder), files.iter().map(|path| code(path)).collect::<Vec<_>>().join("\n"))
        })
        .collect();
    let missing = quoted_and_missing(|_, word| {
        let (path, _) = word.split_once('(').unwrap_or((word, ""));
        let mut parts = path.split("::");
        let Some(source) = parts.next().and_then(|krate| sources.get(krate)) else { return false };
        // A crate may pass on another one.
        let mut searched = vec![source];
        let is_known = parts.all(|part| {
            let is_known = searched.iter().any(|source| defines(source, part));
            searched.extend(sources.get(part));
            is_known
        });
        !is_known && path != CUDA_NAMESPACE
    });
    assert!(missing.is_empty(), "no such modules:\n{missing}");
}

/// Returns the paths in some code that begin with `crate::` or `super::`, each as its parts; groups in braces are taken
/// apart.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let starts = code.match_indices("crate::").chain(code.match_indices("super::"));
    let starts = starts.filter(|(at, _)| !code[..*at].ends_with("::"));
    let mut found = Vec::new();
    for (at, _) in starts {
        expand(&mut Vec::new(), &code[at..], &mut found);
    }
    found
}

/// Adds the paths at the start of `code` that continue `before`, and returns the code after them.
fn expand<'a>(before: &mut Vec<&'a str>, code: &'a str, found: &mut Vec<Vec<&'a str>>) -> &'a str {
    let Some(mut rest) = code.strip_prefix('{') else {
        let end = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
        let (part, rest) = code.split_at(end);
        before.push(part);
        let rest = match rest.strip_prefix("::") {
            Some(more) => expand(before, more, found),
            None => {
                found.push(before.clone());
                rest
            }
        };
        before.pop();
        return rest;
    };
    loop {
        rest = rest.trim_start_matches([' ', '\n', ',']);
        match rest.strip_prefix('}') {
            Some(rest) => return rest,
            None if rest.is_empty() => return rest,
            None => {
                let after = expand(before, rest, found);
                // `as name`, or what else is not part of a path.
                rest = after.find([',', '}']).map_or("", |at| &after[at..]);
            }
        }
    }
}

/// Returns the modules of a crate by their paths, each with its code.
fn modules(krate: &str) -> BTreeMap<Vec<String>, String> {
    let src = root().join(krate).join("src");
    let module = |path: PathBuf| {
        let name = path.strip_prefix(&src).expect("inside").with_extension("");
        let parts = name.iter().map(|part| part.display().to_string());
        (parts.filter(|part| !["lib", "main", "mod"].contains(&part.as_str())).collect(), code(&path))
    };
    files_under(&src, "rs").into_iter().map(module).collect()
}

/// Groups of neighbouring modules of a crate that use each other in a circle. A module with its submodules counts as
/// one.
fn cycles(krate: &str) -> Vec<String> {
    let modules = modules(krate);
    // The uses between neighbours, as pairs of paths that differ in their last parts.
    let mut uses: BTreeSet<(&[String], &[String])> = BTreeSet::new();
    for (module, code) in &modules {
        for path in paths(code) {
            let supers = path.iter().take_while(|part| **part == "super").count();
            let base = if path[0] == "crate" { 0 } else { module.len().saturating_sub(supers) };
            let parts = module[..base].iter().map(String::as_str).chain(path[supers.max(1)..].iter().copied());
            let target: Vec<&str> = parts.collect();
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == *b).count();
            let neighbour = modules.keys().find(|known| {
                known.len() == shared + 1 && target.len() > shared && known.iter().zip(&target).all(|(a, b)| a == b)
            });
            if let (Some(neighbour), true) = (neighbour, module.len() > shared) {
                uses.insert((&module[..=shared], neighbour));
            }
        }
    }
    let reached = |from: &[String]| {
        let mut seen: BTreeSet<&[String]> = BTreeSet::new();
        let mut next = vec![from.to_vec()];
        while let Some(module) = next.pop() {
            let used = uses.iter().filter(|(user, _)| *user == module).map(|(_, used)| *used);
            next.extend(used.filter(|used| seen.insert(used)).map(<[String]>::to_vec));
        }
        seen
    };
    let users: BTreeSet<&[String]> = uses.iter().map(|(user, _)| *user).collect();
    let in_circle = users.into_iter().filter(|module| reached(module).contains(module));
    in_circle.map(|module| format!("{krate}: {}", module.join("::"))).collect()
}

#[test]
fn modules_use_each_other_one_way() {
    let found: Vec<String> = members().iter().flat_map(|krate| cycles(krate)).collect();
    assert!(found.is_empty(), "modules that use each other in a circle:\n{}", found.join("\n"));
}
