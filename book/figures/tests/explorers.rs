//! The explorers of the book count what the emulator counts, and their models do what the emulated GPU does.

use std::collections::BTreeMap;

use figures::explorers::{Case, Engine, cases, claim, folder, rules_js};
use figures::models::{model_cases, models_js};
use tasks::task::{Answer, Question};

#[test]
fn the_rules_in_javascript_give_what_ours_give() -> anyhow::Result<()> {
    let (rules, cases) = (rules_js()?, cases()?);
    let engines = Engine::here();
    if engines.is_empty() {
        eprintln!("not run: neither node nor chromium is here");
    }
    for engine in engines {
        let scratch = tempfile::tempdir()?;
        assert_eq!(engine.run(&rules, &cases, scratch.path())?, cases.len(), "{engine:?}");
    }
    Ok(())
}

/// Checks that a program passes its cases, and fails them after each of its edits.
fn check_edits(name: &str, program: &str, cases: &[Case]) -> anyhow::Result<()> {
    let Some(engine) = Engine::here().first().copied() else {
        eprintln!("not run: neither node nor chromium is here");
        return Ok(());
    };
    let mut edits: BTreeMap<String, Vec<[String; 2]>> = toml::from_str(include_str!("edits.toml"))?;
    let edits = edits.remove(name).expect("edits of the program");
    let mut programs = vec![program.to_owned()];
    for [right, wrong] in &edits {
        assert!(program.contains(right), "the {name} have no `{right}`");
        programs.push(program.replace(right, wrong));
    }
    let scratch = tempfile::tempdir()?;
    let verdicts = engine.verdicts(&programs, cases, scratch.path())?;
    assert_eq!(verdicts[0], format!("agreed {}", cases.len()));
    for ([right, wrong], verdict) in edits.iter().zip(&verdicts[1..]) {
        assert!(verdict.starts_with("disagreed"), "`{wrong}` for `{right}`: {verdict}");
    }
    Ok(())
}

#[test]
fn a_wrong_rule_is_found() -> anyhow::Result<()> {
    check_edits("rules", &rules_js()?, &cases()?)
}

#[test]
fn a_wrong_model_is_found() -> anyhow::Result<()> {
    check_edits("models", &models_js()?, &model_cases()?)
}

#[test]
fn answers_are_judged_as_the_command_line_judges_them() -> anyhow::Result<()> {
    let given = [
        "0.125", "1/8", " 0,125 ", "8", "2 / 16", "1/8/1", "", "many", "1/0", "0/0", "nan", "inf", "0x8", "1e-1",
        ".125", "+.125", "-1/-8", "1.", "1 2", "1/", "/8", "1,2,3", "12.5%", "٨", "0.13", "0.12501", "1_0", "--1",
        "1e999",
    ];
    let mut cases = Vec::new();
    for (answer, within) in [(0.125, None), (8.0, Some(0.5)), (0.1, Some(0.03)), (0.0, None)] {
        let [id, question, because] = [const { String::new() }; 3];
        let answer = Answer::Number(answer);
        let (choices, slips, derive, again, variant) = (vec![], BTreeMap::new(), None, None, None);
        let number = Question { id, question, answer, choices, within, because, slips, derive, again, variant };
        let right = number.answer.text();
        for given in given {
            let expression = format!(
                "[R.parseAnswer({given:?}) !== null, R.isRight({given:?}, {right}, {})]",
                within.unwrap_or(0.0)
            );
            cases.push(Case {
                expression,
                expected: format!("[{},{}]", number.understands(given), number.accepts(given)),
            });
        }
    }
    for engine in Engine::here() {
        let scratch = tempfile::tempdir()?;
        assert_eq!(engine.run(&rules_js()?, &cases, scratch.path())?, cases.len(), "{engine:?}");
    }
    Ok(())
}

#[test]
fn what_the_page_claims_is_about_these_rules_and_cases() -> anyhow::Result<()> {
    let text = std::fs::read_to_string(folder().join("checked.js"))?;
    assert_eq!(text, claim(&rules_js()?, cases()?.len()), "check them again: cargo run -p figures -- explorers");
    Ok(())
}

#[test]
fn the_steps_of_the_stepper_are_those_that_run_today() -> anyhow::Result<()> {
    for (name, text) in figures::steps_js()? {
        let committed = std::fs::read_to_string(figures::generated().join(&name))?;
        assert!(committed == text, "{name}: follow the warps again: cargo run -p figures -- write");
    }
    Ok(())
}

#[test]
fn the_page_of_everything_that_moves_links_every_explorer() -> anyhow::Result<()> {
    let chapters = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let moves = std::fs::read_to_string(chapters.join("moves.md"))?;
    for path in catalog::files::files_ending_with(&chapters, ".md")? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        for element in std::fs::read_to_string(&path)?.lines().filter(|line| line.contains(" data-explorer=\"")) {
            let id = element.split(" id=\"").nth(1).and_then(|rest| rest.split('"').next());
            let link = format!("({name}#{})", id.unwrap_or("an id"));
            assert!(moves.contains(&link), "moves.md has no link {link}");
        }
    }
    Ok(())
}
