//! Slides made from the chapters: their pictures, questions and tasks, in one self-contained file beside the pages.

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

const STYLE: &str = concat!(include_str!("slides.css"), include_str!("../../theme/figures.css"));
const SCRIPT: &str = include_str!("slides.js");
