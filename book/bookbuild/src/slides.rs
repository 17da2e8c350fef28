//! Slides made from the chapters: their pictures, questions and tasks. They are one self-contained file beside the
//! pages of the book.

use std::fmt::Write as _;
use std::path::Path;

use catalog::text::escaped;

pub(crate) const FILE: &str = "slides.html";

#[derive(Debug, Clone, Default)]
pub(crate) struct Deck {
    pub(crate) title: String,
    pub(crate) step: Option<&'static catalog::Step>,
    /// Path from the slides to the chapter's page.
    pub(crate) page: String,
    pub(crate) slides: Vec<Slide>,
}

#[derive(Debug, Clone)]
pub(crate) enum Slide {
    /// A picture under the heading of its section.
    Picture {
        heading: String,
        html: String,
    },
    /// A question with a folded answer.
    Question(QuestionSlide),
    Task {
        name: String,
        minutes: u32,
    },
}

/// A question on a slide, as plain text.
#[derive(Debug, Clone)]
pub(crate) struct QuestionSlide {
    pub(crate) question: String,
    pub(crate) choices: Vec<String>,
    pub(crate) answer: String,
    pub(crate) because: String,
}

/// Writes the slides; without any, writes no file.
pub(crate) fn write(folder: &Path, decks: &[Deck]) -> std::io::Result<()> {
    let decks: Vec<&Deck> = decks.iter().filter(|deck| !deck.slides.is_empty()).collect();
    if decks.is_empty() { Ok(()) } else { std::fs::write(folder.join(FILE), page(&decks)) }
}

fn page(decks: &[&Deck]) -> String {
    let mut body = String::new();
    let mut contents = String::new();
    for (number, deck) in decks.iter().enumerate() {
        let title = escaped(&deck.title);
        let _ = writeln!(contents, "<li><a href=\"#deck-{number}\">{title}</a></li>");
        let idea = deck.step.map_or_else(String::new, |step| {
            format!("<p class=\"idea\">{}</p>", escaped(&catalog::text::capital(step.idea)))
        });
        let _ = writeln!(
            body,
            "<section class=\"title\" id=\"deck-{number}\"><h1>{title}</h1>{idea}<p><a href=\"{}\">the chapter</a></p></section>",
            escaped(&deck.page)
        );
        for (at, slide) in deck.slides.iter().enumerate() {
            // Prefixes make ids unique when two chapters show the same picture.
            let text = section(&title, slide).replace("\"figure-", &format!("\"slide-{number}-{at}-figure-"));
            body.push_str(&text);
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Tile by Tile: slides</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <section class=\"title\"><h1>Tile by Tile</h1><p class=\"keys\">Arrow keys, Page Up and Page Down turn the page; \
         Enter unfolds an answer.</p>\n<ol>\n{contents}</ol></section>\n{body}<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn section(chapter: &str, slide: &Slide) -> String {
    match slide {
        Slide::Picture { heading, html } => {
            let heading = match escaped(heading) {
                heading if heading == chapter => heading,
                heading => format!("{chapter} · {heading}"),
            };
            format!("<section><h2>{heading}</h2>\n{html}</section>\n")
        }
        Slide::Question(question) => {
            let choices: String =
                question.choices.iter().map(|choice| format!("<li>{}</li>", escaped(choice))).collect();
            let choices = if choices.is_empty() { String::new() } else { format!("<ol type=\"a\">{choices}</ol>") };
            format!(
                "<section><h2>{chapter} · Predict</h2><p class=\"question\">{}</p>{choices}\n<details><summary>Answer</summary>\
                 <p class=\"answer\">{}</p><p>{}</p></details></section>\n",
                escaped(&question.question),
                escaped(&question.answer),
                escaped(&question.because)
            )
        }
        Slide::Task { name, minutes } => format!(
            "<section><h2>{chapter} · Your turn</h2><pre>cargo xtask start {name}\ncargo xtask check {name}</pre>\
             <p>about {minutes} minutes</p></section>\n"
        ),
    }
}

const STYLE: &str = r#":root { --fg: #1f2328; --bg: #ffffff; --soft: #57606a; --accent: #1d4ed8; --face: #f1f5f9;
  --tile-good: #15803d; --tile-bad: #b91c1c; --tile-accent: #1d4ed8; --tile-soft: #64748b; --tile-line: #cbd5e1; }
@media screen and (prefers-color-scheme: dark) {
  :root { --fg: #d5dae2; --bg: #161923; --soft: #a3adbb; --accent: #93c5fd; --face: #232838;
    --tile-good: #4ade80; --tile-bad: #f87171; --tile-accent: #93c5fd; --tile-soft: #94a3b8; --tile-line: #475569; }
}
* { box-sizing: border-box; }
html { scroll-snap-type: y proximity; scroll-behavior: smooth; }
body { margin: 0; color: var(--fg); background: var(--bg); font: 24px/1.45 "Open Sans", system-ui, sans-serif; }
section { min-height: 100vh; padding: 5vh 6vw; scroll-snap-align: start; display: flex; flex-direction: column;
  justify-content: center; border-bottom: 1px solid var(--tile-line); }
h1 { font-size: 1.9em; margin: 0 0 .4em; }
h2 { font-size: 1.1em; margin: 0 0 .8em; color: var(--soft); font-weight: 600; }
a { color: var(--accent); }
.title .idea { font-size: 1.3em; }
.keys { color: var(--soft); }
figure.picture { margin: 0; }
figure.picture .scroll { overflow-x: auto; }
figure.picture svg { display: block; width: auto; max-width: 100%; height: auto; max-height: 72vh; margin: 0 auto;
  color: var(--fg); }
figure.picture .scroll svg.tile-figure { width: min(100%, calc(var(--width) * 1.6)); max-width: 100%; }
figure.picture figcaption { margin: 1em auto 0; max-width: 46em; font-size: .75em; color: var(--soft); }
.question { font-size: 1.25em; max-width: 36em; }
.answer { font-size: 1.25em; font-weight: 600; }
summary { cursor: pointer; color: var(--accent); }
pre { padding: .8em 1em; background: var(--face); overflow-x: auto; font-size: .95em; }
@media (max-width: 620px) { body { font-size: 18px; } section { padding: 4vh 5vw; } }
@page { size: landscape; }
@media print {
  body { font-size: 15pt; }
  section { min-height: 0; height: 100vh; break-after: page; border: 0; padding: 8mm; }
  details { display: none; }
}
"#;

const SCRIPT: &str = r#"(() => {
  // The pictures have the colours of the book's dark theme under this name.
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => document.documentElement.classList.toggle('navy', dark.matches);
  dark.addEventListener('change', paint);
  paint();
  const slides = [...document.querySelectorAll('section')];
  const current = () => {
    const middle = innerHeight / 2;
    const at = slides.findIndex((slide) => slide.getBoundingClientRect().bottom > middle);
    return at < 0 ? slides.length - 1 : at;
  };
  addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      slides[Math.max(0, Math.min(slides.length - 1, current() + step))].scrollIntoView();
    } else if (event.key === 'Enter' && event.target === document.body) {
      const answer = slides[current()].querySelector('details');
      if (answer) answer.open = !answer.open;
    }
  });
})();
"#;
