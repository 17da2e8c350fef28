//! `--browser`: loads every page in a real browser, from `file://`, on a phone, a desktop and partly a tablet.
//!
//! Checks: no error on the console, no request that fails or leaves the book, nothing wider than the screen, a search
//! that finds, themes that change, explorers that respond to the keyboard, everything reachable by keyboard
//! (`usable.js`), everything unfolded in print, and no serious finding of axe-core in any theme.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use catalog::files::files_under;
use serde_json::json;

use crate::Problem;
use crate::checks::axe::Axe;
use crate::checks::devtools::{self, Tab};
use crate::checks::run_in_page;

/// All chapters on one page for printing; checked on the desktop screen only.
const PRINT: &str = "print.html";
/// The table of contents for readers without JavaScript: part of other pages, not a page by itself.
const CONTENTS: &str = "toc.html";

struct Screen {
    name: &'static str,
    width: u32,
    height: u32,
    is_phone: bool,
    theme: &'static str,
}

const SCREENS: [Screen; 3] = [
    Screen { name: "phone", width: 390, height: 844, is_phone: true, theme: "light" },
    // For pages with explorers.
    Screen { name: "tablet", width: 768, height: 1024, is_phone: false, theme: "light" },
    Screen { name: "desk", width: 1366, height: 768, is_phone: false, theme: "dark" },
];

/// Script that finds elements beyond the right edge at `WIDTH`, unless a container other than the page scrolls.
const TOO_WIDE: &str = include_str!("too_wide.js");

/// Checks for keyboards, narrow screens and printers.
const USABLE: &str = include_str!("usable.js");

/// Themes that no [`Screen`] uses.
const THEMES: [&str; 3] = ["coal", "ayu", "rust"];
/// Pages that between them have every coloured element.
const COLOURFUL: [&str; 5] =
    ["index.html", "memory.html", "v05-bank-conflict-free.html", "v12-hopper.html", "chapter.html"];

/// Search words, and the end of the address of the section that explains them.
const SECTIONS: [(&str, &str); 8] = [
    ("occupancy", "#occupancy"),
    ("bank conflict", "#bank-conflict"),
    ("coalescing", "#coalescing-coalesced"),
    ("install", "getting-started.html"),
    ("stream-K", "#steps-not-tiles"),
    ("race", "#the-missing-second-barrier"),
    ("__syncthreads", "#barriers"),
    ("cuBLAS", "v09-cublas.html"),
];

pub enum Browsed {
    /// Number of pages loaded on every screen, and the reason why axe-core did not run, if it did not.
    Pages(usize, Option<String>),
    NotRun,
}

/// Loads every page of the book in `folder`, and writes screenshots to `shots`.
pub fn browse(folder: &Path, shots: Option<&Path>) -> Result<(Browsed, Vec<Problem>)> {
    let Some(program) = devtools::find() else { return Ok((Browsed::NotRun, Vec::new())) };
    let folder = folder.canonicalize()?;
    let mut pages = files_under(&folder).with_context(|| folder.display().to_string())?;
    pages.retain(|path| path.extension().is_some_and(|e| e == "html"));
    let (axe, no_axe) = match Axe::load() {
        Ok(axe) => (Some(axe), None),
        Err(why) => (None, Some(format!("{why:#}"))),
    };
    let mut tab = Tab::open(&program)?;
    // The page of all chapters opens a print dialog.
    let how = json!({"source": "window.print = () => {}"});
    tab.command("Page.addScriptToEvaluateOnNewDocument", how)?;
    let mut problems = BTreeSet::new();
    for screen in &SCREENS {
        let size = json!({
            "width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": screen.is_phone
        });
        tab.command("Emulation.setDeviceMetricsOverride", size)?;
        set_theme(&mut tab, screen)?;
        for page in &pages {
            let name = page.strip_prefix(&folder).unwrap_or(page).display().to_string();
            if name == PRINT && screen.name != "desk" {
                continue;
            }
            if screen.name == "tablet" && !std::fs::read_to_string(page)?.contains("data-explorer=") {
                continue;
            }
            let found = check_page(&mut tab, &folder, page, screen).with_context(|| format!("looking at {name}"))?;
            problems.extend(found.into_iter().map(|what| problem(&name, what)));
            if let Some(axe) = axe.as_ref().filter(|_| ![PRINT, CONTENTS].contains(&&*name) && screen.name != "tablet")
            {
                let found = axe_findings(&mut tab, axe, screen, &name)
                    .with_context(|| format!("running axe-core on {name}"))?;
                problems.extend(found.into_iter().map(|what| problem(&name, what)));
            }
            // The page of all chapters and that of all slides exceed the maximum size of a screenshot.
            if let Some(shots) = shots.filter(|_| ![PRINT, "slides.html"].contains(&&*name)) {
                std::fs::create_dir_all(shots)?;
                let file = format!("{}-{}.png", name.trim_end_matches(".html").replace('/', "-"), screen.name);
                let picture = tab.picture().with_context(|| format!("taking a picture of {name}"))?;
                std::fs::write(shots.join(file), picture)?;
            }
        }
    }
    let first = folder.join("index.html");
    problems.extend(check_interaction(&mut tab, &folder, &first)?.into_iter().map(|what| problem("index.html", what)));
    for page in pages.iter().filter(|page| !page.ends_with(PRINT)) {
        if std::fs::read_to_string(page)?.contains("run/run.js") {
            let name = page.strip_prefix(&folder).unwrap_or(page).display().to_string();
            let found = run_in_page::check(&mut tab, &folder, page, axe.as_ref())
                .with_context(|| format!("running the kernels of {name}"))?;
            problems.extend(found.into_iter().map(|what| problem(&name, what)));
        }
    }
    Ok((Browsed::Pages(pages.len(), no_axe), problems.into_iter().collect()))
}

fn problem(page: &str, what: String) -> Problem {
    Problem { file: page.to_owned(), line: 0, what }
}

fn check_page(tab: &mut Tab, folder: &Path, page: &Path, screen: &Screen) -> Result<Vec<String>> {
    tab.load(page)?;
    let mut out = Vec::new();
    for element in tab.strings(&TOO_WIDE.replace("WIDTH", &screen.width.to_string()))? {
        out.push(format!("is wider than {} pixels: {element}", screen.width));
    }
    // Nobody reads the page of all chapters on a screen.
    if !page.ends_with(PRINT) {
        out.extend(explore(tab)?);
        out.extend(usable(tab, "screen")?);
    }
    if !screen.is_phone {
        tab.command("Emulation.setEmulatedMedia", json!({"media": "print"}))?;
        tab.value(devtools::SETTLED)?;
        out.extend(usable(tab, "print")?);
        set_theme(tab, screen)?;
    }
    out.extend(tab.reported_errors(folder));
    Ok(out)
}

fn set_theme(tab: &mut Tab, screen: &Screen) -> Result<()> {
    let features = json!([{"name": "prefers-color-scheme", "value": screen.theme}]);
    tab.command("Emulation.setEmulatedMedia", json!({"media": "", "features": features}))?;
    Ok(())
}

/// Runs axe-core on the loaded page: all checks on the phone, in the light theme; only colours in the other themes.
fn axe_findings(tab: &mut Tab, axe: &Axe, screen: &Screen, name: &str) -> Result<Vec<String>> {
    let mut out = axe.findings(tab, !screen.is_phone)?;
    if screen.is_phone || !COLOURFUL.contains(&name) {
        return Ok(out);
    }
    for theme in THEMES {
        let click = format!("document.getElementById('mdbook-theme-{theme}')?.click()");
        tab.value(&click)?;
        let found = axe.findings(tab, true)?;
        out.extend(found.into_iter().map(|what| format!("in the theme {theme}: {what}")));
    }
    tab.value("document.getElementById('mdbook-theme-default_theme')?.click()")?;
    Ok(out)
}

fn usable(tab: &mut Tab, kind: &str) -> Result<Vec<String>> {
    tab.strings(&USABLE.replace("(KIND)", &format!("(\"{kind}\")")))
}

/// Uses the book as a reader does: searches, and changes the theme.
fn check_interaction(tab: &mut Tab, folder: &Path, page: &Path) -> Result<Vec<String>> {
    tab.load(page)?;
    let mut out = Vec::new();
    if search(tab, "gpu")?.is_empty() {
        out.push("the search finds nothing for `gpu`".into());
    }
    if folder.join("glossary.html").is_file() {
        for (words, section) in SECTIONS {
            let found = search(tab, words)?;
            let address = found.split(' ').next().unwrap_or_default();
            if !address.ends_with(section) {
                out.push(format!("the search for `{words}` does not find a section of its own first, but {found}"));
            }
        }
    }
    let colours = tab.value(
        r"['light', 'navy'].map((theme) => {
            document.getElementById('mdbook-theme-' + theme).click();
            return getComputedStyle(document.documentElement).getPropertyValue('--tile-good').trim();
        })",
    )?;
    if colours[0] == colours[1] {
        out.push(format!("the dark theme has the colours of the light one: {colours}"));
    }
    // What is chosen in the bar of one page shows on the next: the column of counts beside kernels, and their language.
    let [first, next] = ["v04-float4.html", "v05-bank-conflict-free.html"].map(|page| folder.join(page));
    let choices = [
        ("tile-counts", "sectors", "main.gutter"),
        ("tile-language", "Rust", "[data-lang=cuda][hidden] + [data-lang=rust]:not([hidden])"),
    ];
    for (name, option, shown) in choices.into_iter().filter(|_| first.is_file()) {
        tab.load(&first)?;
        let choice = format!("document.querySelector('select.{name}')");
        tab.value(&format!("({choice}.value = '{option}', {choice}.dispatchEvent(new Event('change')))"))?;
        tab.load(&next)?;
        if tab.value(&format!("{choice}.value === '{option}' && !!document.querySelector('{shown}')"))? != true {
            out.push(format!("the choice of {name} is forgotten on the next page"));
        }
        tab.value("localStorage.clear()")?;
    }
    out.extend(tab.reported_errors(folder));
    Ok(out)
}

/// Returns the first search result: its address and the text of its link.
fn search(tab: &mut Tab, words: &str) -> Result<String> {
    const SEARCH: &str = include_str!("search.js");
    let found = tab.value(&format!("{SEARCH}({})", json!(words)))?;
    Ok(found.as_str().unwrap_or_default().to_owned())
}

/// Checks by keyboard that every control of every explorer changes its result.
///
/// An explorer is an element with `data-explorer`; its result is in an `output` or an element with `data-result`.
fn explore(tab: &mut Tab) -> Result<Vec<String>> {
    const KEYS: [(&str, u32); 4] = [("ArrowRight", 39), ("ArrowLeft", 37), ("ArrowDown", 40), ("ArrowUp", 38)];
    const CONTROLS: &str = "[...document.querySelectorAll('[data-explorer]')].flatMap((explorer) => \
         [...explorer.querySelectorAll('input, select')].map((control) => ({explorer, control})))";
    const RESULT: &str = "[...explorer.querySelectorAll('output, [data-result]')].map((e) => e.innerHTML).join('|')";
    let mut out = Vec::new();
    let dead = "[...document.querySelectorAll('[data-explorer]')].filter((e) => !e.querySelector('input, select')).map((e) => e.dataset.explorer)";
    for name in tab.strings(dead)? {
        out.push(format!("the explorer {name} has nothing to change: its script did not run"));
    }
    let n = tab.value(&format!("({CONTROLS}).length"))?.as_u64().unwrap_or(0);
    for index in 0..n {
        let of =
            |what: &str| format!("(() => {{ const {{explorer, control}} = ({CONTROLS})[{index}]; return {what}; }})()");
        let before = tab.value(&of(RESULT))?;
        let mut changed = false;
        for (key, code) in KEYS {
            tab.value(&of("control.focus()"))?;
            tab.press(key, code)?;
            tab.value(devtools::SETTLED)?;
            changed = tab.value(&of(RESULT))? != before;
            if changed {
                break;
            }
        }
        if !changed && tab.value(&of("control.type === 'checkbox' && (control.click(), true)"))? == true {
            changed = tab.value(&of(RESULT))? != before;
        }
        if !changed {
            let name = tab.value(&of(
                "explorer.dataset.explorer + ': ' + (control.getAttribute('aria-label') || control.id || control.name)",
            ))?;
            let name = name.as_str().unwrap_or("?");
            out.push(format!("the explorer's control {name} changes nothing when arrow keys are pressed"));
        }
    }
    Ok(out)
}
