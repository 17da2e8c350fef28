//! Runs the kernels of a page as a reader does, on a phone; in one page also by keyboard and with hostile texts.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tasks::progress::Progress;

use super::axe::Axe;
use super::devtools::Tab;

/// The page whose kernel is edited by keyboard.
const EDITED: &str = "v02-shared.html";
/// The page whose launch a reader chooses.
const PLAYGROUND: &str = "playground.html";
const TOO_WIDE: &str = include_str!("too_wide.js");

/// A page with one task, and its name.
const TASK: &str = "first-task.html";
const TASK_NAME: &str = "v00.turn";
/// Parts in which harmful sources run.
const PARTS: usize = 8;
const THEMES: [&str; 5] = ["light", "rust", "coal", "navy", "ayu"];

/// Each waits for what it starts, and returns complaints.
const RUN: &str = include_str!("run_in_page.js");

pub(super) fn check(tab: &mut Tab, folder: &Path, page: &Path, axe: Option<&Axe>) -> Result<Vec<String>> {
    let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    tab.command("Emulation.setDeviceMetricsOverride", phone)?;
    tab.command("Emulation.setScriptExecutionDisabled", json!({"value": true}))?;
    let without = load_without_script(tab, page);
    tab.command("Emulation.setScriptExecutionDisabled", json!({"value": false}))?;
    let mut out = without?;
    tab.load(page)?;
    out.extend(tab.strings(&format!("{RUN}.all()"))?);
    for element in tab.strings(&TOO_WIDE.replace("WIDTH", "390"))? {
        out.push(format!("is wider than 390 pixels after a run: {element}"));
    }
    if page.ends_with(TASK) {
        out.extend(progress(tab)?);
    }
    if page.ends_with(PLAYGROUND) {
        out.extend(tab.strings(&format!("{RUN}.launch()"))?);
    }
    if page.ends_with(EDITED) {
        out.extend(edit(tab)?);
        for what in ["chips", "hostile"] {
            out.extend(tab.strings(&format!("{RUN}.{what}()"))?);
        }
        let (large, bodies) = harmful_sources()?;
        for part in 0..PARTS {
            out.extend(tab.strings(&format!("{RUN}.harmful({large}, {bodies}, [{part}, {PARTS}])"))?);
        }
    }
    if [EDITED, PLAYGROUND].iter().any(|name| page.ends_with(name)) {
        for theme in THEMES.into_iter().filter(|_| axe.is_some()) {
            tab.value(&format!("document.getElementById('mdbook-theme-{theme}').click()"))?;
            let found = axe.map_or(Ok(Vec::new()), |axe| axe.findings(tab, false))?;
            out.extend(found.into_iter().map(|what| format!("after a run, in the theme {theme}: {what}")));
        }
    }
    tab.value("localStorage.clear()")?;
    out.extend(tab.reported_errors(folder));
    Ok(out)
}

/// Returns the sources of the compiler's test, in short, and the bodies of kernels of the grader's, with what stands
/// before each.
fn harmful_sources() -> Result<(Value, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned());
    let large = read("emulator/cuda/tests/hostile.txt")?;
    let kernels: toml::Table = read("course/judge/tests/it/hostile.toml")?.parse()?;
    // A whole source, such as an `#include`, does its harm before an empty kernel.
    let text = |kernel: &toml::Value, fields: [&str; 2]| {
        fields.map(|field| kernel.get(field).and_then(toml::Value::as_str).unwrap_or_default()).concat()
    };
    let bodies = kernels.values().map(|kernel| json!([text(kernel, ["source", "before"]), text(kernel, ["body", ""])]));
    Ok((large.split("\n\n").skip(1).collect(), bodies.collect()))
}

/// Checks that the progress that a page exports is what the command line reads, and what the page itself imports.
fn progress(tab: &mut Tab) -> Result<Vec<String>> {
    let text = tab.value("TileProgress.toToml()")?;
    let text = text.as_str().unwrap_or_default();
    let read = Progress::parse(text, "progress.toml")?;
    let again = tab.value(&format!("TileProgress.fromToml({})", json!(text)))?;
    let is_read = read.tasks.get(TASK_NAME).is_some_and(|task| task.checks == 1 && task.failures.len() == 1);
    Ok(if is_read && again[TASK_NAME]["checks"] == 1 && again[TASK_NAME]["failures"].is_object() {
        Vec::new()
    } else {
        vec![format!("the progress of {TASK_NAME} is exported as:\n{text}")]
    })
}

/// Checks that a listing is there without a script, and no control.
fn load_without_script(tab: &mut Tab, page: &Path) -> Result<Vec<String>> {
    tab.command("Page.navigate", json!({"url": format!("file://{}", page.display())}))?;
    tab.event("Page.loadEventFired")?;
    tab.strings(
        "[...document.querySelectorAll('[data-run]')].filter((e) => e.querySelector('.run') \
         || (e.matches('figure') && !e.querySelector('pre .l'))).map((e) => 'without a script, ' + e.dataset.run + ' has controls, or no code')",
    )
}

/// Makes a mistake, reads of it, corrects it, and leaves the editor, with real keys.
fn edit(tab: &mut Tab) -> Result<Vec<String>> {
    const PLACE: &str = "document.querySelector('figure[data-run=v02]')";
    const INSIDE: &str = "document.activeElement.matches('figure[data-run=v02] textarea')";
    let mut out = Vec::new();
    let mut expect = |tab: &mut Tab, what: &str, is_true: &str| -> Result<()> {
        if tab.value(&format!("{RUN}.until(() => {is_true})"))? != true {
            out.push(format!("by keyboard: {what}"));
        }
        Ok(())
    };
    let says = |text: &str| {
        format!(
            "!{PLACE}.querySelector('.primary').disabled && {PLACE}.querySelector('.run-status').textContent.startsWith('{text}')"
        )
    };
    tab.value(&format!("[...{PLACE}.querySelectorAll('button')].find((e) => e.textContent.includes('Edit')).focus()"))?;
    tab.press(" ", 32)?;
    expect(tab, "Edit does not open the editor", INSIDE)?;
    tab.value("(() => { const e = document.activeElement; const at = e.value.indexOf('T acc = 0;') + 10; e.setSelectionRange(at, at); })()")?;
    tab.press("Backspace", 8)?;
    tab.press_with("Enter", 13, 2)?;
    expect(tab, "a missing semicolon is no error", &says("Does not compile"))?;
    expect(tab, "the error is not underlined", &format!("{PLACE}.querySelector('.wavy') !== null"))?;
    tab.value(&format!("{PLACE}.querySelector('.message .lead').focus()"))?;
    tab.press(" ", 32)?;
    expect(tab, "the link of an error does not lead to its line", INSIDE)?;
    tab.press("End", 35)?;
    tab.command("Input.insertText", json!({"text": ";"}))?;
    tab.press_with("Enter", 13, 2)?;
    expect(tab, "the corrected kernel does not pass", &says("Passed"))?;
    tab.press("Tab", 9)?;
    expect(tab, "Tab leaves the editor", INSIDE)?;
    tab.press("Escape", 27)?;
    tab.press("Tab", 9)?;
    expect(tab, "Escape and Tab do not leave the editor", &format!("!{INSIDE}"))?;
    Ok(out)
}
