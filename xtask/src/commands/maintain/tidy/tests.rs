use super::*;

#[test]
fn the_checkout_is_tidy() {
    let root = paths::checkout().expect("tests run in a checkout");
    let found = complaints(&root).expect("files to read");
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", lines.join("\n"));
}

/// A new step, named in the catalogue and nowhere else, then with what each complaint asks for.
#[test]
fn a_new_step_is_complained_about_until_it_is_whole() {
    const KERNEL: catalog::CatalogKernel =
        catalog::CatalogKernel { name: "sgemm_v99_new", source: Some("v99_new"), work: catalog::Work::Sgemm };
    const STEP: Step = Step { id: "v99", name: "new", idea: "the newest idea", kernels: &[KERNEL] };
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    let complained = |files: &[(&str, &str)]| {
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let mut names = Vec::new();
        walk(root, root, &mut names).expect("files");
        let mut rules = Rules { root, files: names, found: Vec::new() };
        rules.steps(&[STEP]);
        let lines: Vec<String> = rules.found.iter().map(ToString::to_string).collect();
        lines.join("\n")
    };
    let catalogue = ("course/catalog/src/steps.rs", "// one\nid: \"v99\",\n");
    insta::assert_snapshot!(complained(&[catalogue]), @r"
        course/catalog/src/steps.rs:2: v99 has no steps/v99/tasks.toml; write its tasks and questions
        course/catalog/src/steps.rs:2: v99 has no chapter; write book/src/v99-new.md
        book/outputs.toml:1: the output v99-bench is missing; add an [[output]] of this name, with the command `bench v99 --emulate`
        book/outputs.toml:1: v99 has no book/src/generated/v99-bench.txt; write it with: cargo xtask book --refresh v99-bench
        course/catalog/src/steps.rs:2: sgemm_v99_new has no record; measure it on a GPU with: cargo xtask bench v99 --save
        course/catalog/src/steps.rs:2: sgemm_v99_new is in no book/data/*-counters.json; make it on a GPU with: cargo xtask profile v99 --save
        course/catalog/src/steps.rs:2: sgemm_v99_new is in no book/data/*-sanitizer.json; make it on a GPU with: cargo xtask sanitize v99 --save
        course/catalog/src/steps.rs:2: sgemm_v99_new is in no book/data/*-sums.json; make it on a GPU with: cargo xtask sums v99 --save
        ");
    let chapter = ("book/src/v99-new.md", "# v99\n");
    insta::assert_snapshot!(complained(&[("steps/v99/tasks.toml", ""), chapter]), @r#"
        book/src/v99-new.md:1: the table of contents lacks this chapter; name it in book/src/SUMMARY.md
        book/src/v99-new.md:1: v99 has no picture; draw one in book/figures, and show it with {{#figure NAME "what it shows"}}
        book/outputs.toml:1: the output v99-bench is missing; add an [[output]] of this name, with the command `bench v99 --emulate`
        book/outputs.toml:1: v99 has no book/src/generated/v99-bench.txt; write it with: cargo xtask book --refresh v99-bench
        course/catalog/src/steps.rs:2: sgemm_v99_new has no record; measure it on a GPU with: cargo xtask bench v99 --save
        course/catalog/src/steps.rs:2: sgemm_v99_new is in no book/data/*-counters.json; make it on a GPU with: cargo xtask profile v99 --save
        course/catalog/src/steps.rs:2: sgemm_v99_new is in no book/data/*-sanitizer.json; make it on a GPU with: cargo xtask sanitize v99 --save
        course/catalog/src/steps.rs:2: sgemm_v99_new is in no book/data/*-sums.json; make it on a GPU with: cargo xtask sums v99 --save
        "#);
    let run = r#""runs": [{"id": "1", "date": "2000-01-01T00:00:00Z", "device": "a GPU", "emulated": false,
            "capability": "9.0", "driver": "13.0", "host": "a CPU", "revision": "abc", "roofline": null, "cublas": null}]"#;
    let measurement = r#"{"run": "1", "step": "v99", "kernel": "sgemm_v99_new", "shape": {"m": 1, "n": 1, "k": 1},
            "seed": 1, "ptx_sha256": "", "outcome": {"failed": {"why": "", "details": ""}}}"#;
    let whole = complained(&[
        ("book/src/SUMMARY.md", "- [v99](v99-new.md)\n"),
        ("book/src/v99-new.md", "{{#figure lanes \"which lane owns what\"}}\n"),
        ("book/outputs.toml", "name = \"v99-bench\"\n"),
        ("book/src/generated/v99-bench.txt", ""),
        ("book/data/a-counters.json", "\"sgemm_v99_new\""),
        ("book/data/a-sanitizer.json", "\"sgemm_v99_new\""),
        ("book/data/a-sums.json", "\"sgemm_v99_new\""),
        ("book/data/a.json", &format!("{{\"schema\": 1, {run}, \"measurements\": [{measurement}]}}")),
    ]);
    assert_eq!(whole, "");
}

#[test]
fn only_words_of_comments_have_a_width() {
    for line in ["// a reason", "    /// Returns it.", "//! A crate."] {
        assert!(is_prose(line), "{line}");
    }
    for line in ["let x = 1; // a reason", "//! | a | b |", "/// // code", ""] {
        assert!(!is_prose(line), "{line}");
    }
}

#[test]
fn versions_are_told_from_choices() {
    for line in ["a = \"1\"", "a = { version = \"1\" }", "a.version = \"1\"", "version = \"1\""] {
        assert!(has_version(line), "{line}");
    }
    for line in ["a.workspace = true", "a = { workspace = true, features = [\"b\"] }", "# a = \"1\"", ""] {
        assert!(!has_version(line), "{line}");
    }
}

#[test]
fn a_kernel_belongs_to_the_step_in_its_name() {
    assert_eq!(step_of("kernels/v05_bank_conflict_free.cu"), Some("v05"));
    assert_eq!(step_of("kernels/v055.cu"), None);
    assert_eq!(step_of("kernels/bench/naive.cu"), None);
}
