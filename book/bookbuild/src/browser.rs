//! `--browser`: every page of the built book in a real browser, from `file://`, on a phone and on a desk.
//!
//! What must hold: no error on the console, no request that fails or leaves the book, nothing wider than the
//! screen, a search that finds, themes that change, explorers that answer to the keyboard, everything within reach of
//! a keyboard (`usable.js`), everything unfolded on paper, and nothing serious that axe-core finds, in every theme.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::Problem;
use crate::axe::Axe;
use crate::devtools::{self, Tab};
use crate::repo_paths::files_under;

/// All chapters in one, to be printed: it is loaded, and looked at on a desk only.
const PRINT: &str = "print.html";
/// The table of contents of readers without JavaScript: part of a page, and none by itself.
const CONTENTS: &str = "toc.html";

/// A screen that pages are tried on.
struct Screen {
    name: &'static str,
    width: u32,
    height: u32,
    is_phone: bool,
    theme: &'static str,
}

const SCREENS: [Screen; 2] = [
    Screen {
        name: "phone",
        width: 390,
        height: 844,
        is_phone: true,
        theme: "light",
    },
    Screen {
        name: "desk",
        width: 1280,
        height: 900,
        is_phone: false,
        theme: "dark",
    },
];

/// Elements that stick out on the right of `WIDTH`, unless a box of the text around them scrolls. That the text as a
/// whole can be moved aside does not count.
const TOO_WIDE: &str = r"((width) => {
    const whole = (e) => e.matches('html, body, main') || e.contains(document.querySelector('main'));
    const scrolls = (element) => {
        for (let e = element.parentElement; e && !whole(e); e = e.parentElement) {
            if (getComputedStyle(e).overflowX !== 'visible') return true;
        }
        return false;
    };
    const out = [...document.querySelectorAll('body *')].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.right > width + 1 && !whole(element) && !scrolls(element);
    });
    const name = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '')
        + (typeof e.className === 'string' && e.className ? '.' + [...e.classList].join('.') : '');
    const inner = out.filter((element) => !out.some((other) => other !== element && element.contains(other)));
    return inner.slice(0, 3).map((e) => name(e) + ' `' + e.textContent.trim().slice(0, 40) + '`');
})(WIDTH)";

/// Waits until scripts that run behind the page's loading had their turn.
const SETTLED: &str = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true), 60)))";

/// What a keyboard, a narrow screen and a printer need.
const USABLE: &str = include_str!("usable.js");

/// The themes that no screen has, and pages with everything that has colours.
const THEMES: [&str; 3] = ["coal", "ayu", "rust"];
const COLOURFUL: [&str; 4] = [
    "index.html",
    "memory.html",
    "v05-bank-conflict-free.html",
    "chapter.html",
];

/// Words that a reader looks for, and how the address of a section that is about them ends.
const SECTIONS: [(&str, &str); 3] = [
    ("occupancy", "#occupancy"),
    ("bank conflict", "#bank-conflict"),
    ("coalescing", "#coalescing-coalesced"),
];

/// What the browser was used for.
pub enum Browsed {
    /// So many pages were loaded on every screen; axe-core was not run for this reason.
    Pages(usize, Option<String>),
    /// There is no browser here.
    NotRun,
}

/// Loads every page of the book. Pictures of them go to `shots`.
///
/// # Errors
/// When the browser does not do what it is told.
pub fn browse(folder: &Path, shots: Option<&Path>) -> Result<(Browsed, Vec<Problem>)> {
    let Some(program) = devtools::find() else {
        return Ok((Browsed::NotRun, Vec::new()));
    };
    let folder = folder.canonicalize()?;
    let mut pages = files_under(&folder)?;
    pages.retain(|path| path.extension().is_some_and(|e| e == "html"));
    let (axe, why_not) = match Axe::load() {
        Ok(axe) => (Some(axe), None),
        Err(why) => (None, Some(why)),
    };
    let mut tab = Tab::open(&program)?;
    // The page of all chapters asks for a printer.
    let how = json!({"source": "window.print = () => {}"});
    tab.ask("Page.addScriptToEvaluateOnNewDocument", how)?;
    let mut problems = BTreeSet::new();
    for screen in &SCREENS {
        let size = json!({
            "width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": screen.is_phone
        });
        tab.ask("Emulation.setDeviceMetricsOverride", size)?;
        media(&mut tab, screen)?;
        for page in &pages {
            let name = page.strip_prefix(&folder).unwrap_or(page).display().to_string();
            if name == PRINT && screen.is_phone {
                continue;
            }
            let found =
                look(&mut tab, &folder, page, screen).with_context(|| format!("looking at {name}"))?;
            problems.extend(found.into_iter().map(|what| problem(&name, what)));
            if let Some(axe) = axe.as_ref().filter(|_| name != PRINT && name != CONTENTS) {
                let found = judged(&mut tab, axe, screen, &name)
                    .with_context(|| format!("running axe-core on {name}"))?;
                problems.extend(found.into_iter().map(|what| problem(&name, what)));
            }
            // The page of all chapters is larger than a picture can be.
            if let Some(shots) = shots.filter(|_| name != PRINT) {
                std::fs::create_dir_all(shots)?;
                let file = format!(
                    "{}-{}.png",
                    name.trim_end_matches(".html").replace('/', "-"),
                    screen.name
                );
                let picture = tab
                    .picture()
                    .with_context(|| format!("taking a picture of {name}"))?;
                std::fs::write(shots.join(file), picture)?;
            }
        }
    }
    let first = folder.join("index.html");
    for what in use_it(&mut tab, &folder, &first)? {
        problems.insert(problem("index.html", what));
    }
    Ok((
        Browsed::Pages(pages.len(), why_not),
        problems.into_iter().collect(),
    ))
}

fn problem(page: &str, what: String) -> Problem {
    Problem {
        file: page.to_owned(),
        line: 0,
        what,
    }
}

fn load(tab: &mut Tab, page: &Path) -> Result<()> {
    tab.events.clear();
    let answer = tab.ask(
        "Page.navigate",
        json!({"url": format!("file://{}", page.display())}),
    )?;
    if let Some(why) = answer["errorText"].as_str() {
        anyhow::bail!("{} cannot be loaded: {why}", page.display());
    }
    tab.event("Page.loadEventFired")?;
    tab.value(SETTLED)?;
    Ok(())
}

/// What is wrong with a page on a screen.
fn look(tab: &mut Tab, folder: &Path, page: &Path, screen: &Screen) -> Result<Vec<String>> {
    load(tab, page)?;
    let mut out = Vec::new();
    let wide = tab.value(&TOO_WIDE.replace("WIDTH", &screen.width.to_string()))?;
    for element in wide.as_array().into_iter().flatten() {
        out.push(format!(
            "is wider than {} pixels: {}",
            screen.width,
            element.as_str().unwrap_or("something")
        ));
    }
    out.extend(explore(tab)?);
    out.extend(usable(tab, "screen")?);
    if !screen.is_phone {
        tab.ask("Emulation.setEmulatedMedia", json!({"media": "print"}))?;
        tab.value(SETTLED)?;
        out.extend(usable(tab, "print")?);
        media(tab, screen)?;
    }
    out.extend(heard(tab, folder));
    Ok(out)
}

/// A screen, in the theme that it wants.
fn media(tab: &mut Tab, screen: &Screen) -> Result<()> {
    let features = json!([{"name": "prefers-color-scheme", "value": screen.theme}]);
    tab.ask(
        "Emulation.setEmulatedMedia",
        json!({"media": "", "features": features}),
    )?;
    Ok(())
}

/// What axe-core finds on the page that is loaded: all of it on the phone, which is light; colours in other themes.
fn judged(tab: &mut Tab, axe: &Axe, screen: &Screen, name: &str) -> Result<Vec<String>> {
    let mut out = axe.findings(tab, !screen.is_phone)?;
    if screen.is_phone || !COLOURFUL.contains(&name) {
        return Ok(out);
    }
    for theme in THEMES {
        let click = format!("document.getElementById('mdbook-theme-{theme}')?.click()");
        tab.value(&click)?;
        let found = axe.findings(tab, true)?;
        out.extend(
            found
                .into_iter()
                .map(|what| format!("in the theme {theme}: {what}")),
        );
    }
    tab.value("document.getElementById('mdbook-theme-default_theme')?.click()")?;
    Ok(out)
}

/// What `usable.js` says of the page that is loaded.
fn usable(tab: &mut Tab, kind: &str) -> Result<Vec<String>> {
    let found = tab.value(&USABLE.replace("(KIND)", &format!("(\"{kind}\")")))?;
    let found = found.as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(found.map(str::to_owned).collect())
}

/// Complaints of the page since it was loaded.
fn heard(tab: &mut Tab, folder: &Path) -> Vec<String> {
    let inside = format!("file://{}/", folder.display());
    let mut out = Vec::new();
    for event in tab.events.drain(..) {
        let about = &event["params"];
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => {
                let details = &about["exceptionDetails"];
                let what = details["exception"]["description"].as_str();
                out.push(format!(
                    "throws: {}",
                    what.map_or_else(|| text(&details["text"]), str::to_owned)
                ));
            }
            "Runtime.consoleAPICalled"
                if matches!(about["type"].as_str(), Some("error" | "assert" | "warning")) =>
            {
                out.push(format!(
                    "says on the console: {}",
                    text(&about["args"][0]["value"])
                ));
            }
            "Log.entryAdded" if about["entry"]["level"] == "error" => {
                out.push(format!(
                    "logs: {} {}",
                    text(&about["entry"]["text"]),
                    about["entry"]["url"]
                ));
            }
            "Network.requestWillBeSent" => {
                let url = text(&about["request"]["url"]);
                let stays = ["data:", "blob:", "about:", inside.as_str()]
                    .iter()
                    .any(|start| url.starts_with(start));
                if !stays {
                    out.push(format!("asks for {url}, which is not in the book"));
                }
            }
            // A font whose download was given up because the page changed is no failure.
            "Network.loadingFailed" if about["canceled"] != true => {
                out.push(format!("a request fails: {}", text(&about["errorText"])));
            }
            _ => {}
        }
    }
    out
}

/// Uses the book as a reader does: searches, and changes the theme.
fn use_it(tab: &mut Tab, folder: &Path, page: &Path) -> Result<Vec<String>> {
    load(tab, page)?;
    let mut out = Vec::new();
    if search(tab, "gpu")?.is_empty() {
        out.push("the search finds nothing for `gpu`".into());
    }
    if folder.join("glossary.html").is_file() {
        for (words, section) in SECTIONS {
            let found = search(tab, words)?;
            let address = found.split(' ').next().unwrap_or_default();
            if !address.ends_with(section) {
                out.push(format!(
                    "the search for `{words}` does not find a section of its own first, but {found}"
                ));
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
        out.push(format!(
            "the dark theme has the colours of the light one: {colours}"
        ));
    }
    out.extend(heard(tab, folder));
    Ok(out)
}

/// The first thing that the search finds: the address, and the words of its link.
fn search(tab: &mut Tab, words: &str) -> Result<String> {
    const SEARCH: &str = r"(async (words) => {
        const results = document.getElementById('mdbook-searchresults');
        const bar = document.getElementById('mdbook-searchbar');
        if (document.getElementById('mdbook-search-wrapper').classList.contains('hidden')) {
            document.getElementById('mdbook-search-toggle').click();
        }
        results.replaceChildren();
        for (let i = 0; i < 100 && !results.querySelector('li a'); i++) {
            bar.value = words;
            bar.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
            await new Promise((done) => setTimeout(done, 50));
        }
        const first = results.querySelector('li a');
        return first ? `${first.getAttribute('href')} ${first.textContent}` : '';
    })";
    let found = tab.value(&format!("{SEARCH}({})", json!(words)))?;
    Ok(found.as_str().unwrap_or_default().to_owned())
}

/// Every control of every explorer changes its result, by keyboard.
///
/// An explorer is an element with `data-explorer`; what it finds out stands in an `output` or an element with
/// `data-result`.
fn explore(tab: &mut Tab) -> Result<Vec<String>> {
    const KEYS: [(&str, u32); 4] = [
        ("ArrowRight", 39),
        ("ArrowLeft", 37),
        ("ArrowDown", 40),
        ("ArrowUp", 38),
    ];
    const CONTROLS: &str = "[...document.querySelectorAll('[data-explorer]')].flatMap((explorer) => \
         [...explorer.querySelectorAll('input, select')].map((control) => ({explorer, control})))";
    const RESULT: &str =
        "[...explorer.querySelectorAll('output, [data-result]')].map((e) => e.innerHTML).join('|')";
    let mut out = Vec::new();
    let dead = "[...document.querySelectorAll('[data-explorer]')].filter((e) => !e.querySelector('input, select')).map((e) => e.dataset.explorer)";
    for name in tab.value(dead)?.as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or("?");
        out.push(format!(
            "the explorer {name} has nothing to change: its script did not run"
        ));
    }
    let n = tab.value(&format!("({CONTROLS}).length"))?.as_u64().unwrap_or(0);
    for index in 0..n {
        let of = |what: &str| {
            format!("(() => {{ const {{explorer, control}} = ({CONTROLS})[{index}]; return {what}; }})()")
        };
        let before = tab.value(&of(RESULT))?;
        let mut changed = false;
        for (key, code) in KEYS {
            tab.value(&of("control.focus()"))?;
            tab.press(key, code)?;
            tab.value(SETTLED)?;
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
            out.push(format!(
                "the explorer's control {name} changes nothing when arrow keys are pressed"
            ));
        }
    }
    Ok(out)
}
