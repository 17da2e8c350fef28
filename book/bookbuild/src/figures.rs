//! `{{#figure name "text alternative"}}`: a picture that a program drew, inside the page.

use std::sync::LazyLock;

use catalog::text::escaped;
use regex::Regex;

use crate::RepoPaths;

/// The picture as part of a page: inline, so that it takes the page's colours. The text alternative is its caption,
/// because what a picture says should be there for everybody.
///
/// # Errors
/// When there is no such picture, or it is not one that can stand in a page.
pub(crate) fn figure(repo: &RepoPaths, name: &str, alternative: &str) -> Result<String, String> {
    static PROLOGUE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->").expect("a fixed pattern"));
    let path = repo.generated().join(name).with_extension("svg");
    let text = repo
        .read(&path)
        .map_err(|why| format!("{why}; pictures are drawn by: cargo xtask book --refresh"))?;
    let shown = repo.shown(&path);
    let svg = PROLOGUE.replace_all(&text, "");
    let width = width(&svg).ok_or_else(|| format!("{shown} is not an <svg> with a viewBox"))?;
    // A blank line would end the block of HTML.
    let svg: Vec<&str> = svg.lines().filter(|line| !line.trim().is_empty()).collect();
    // What is inside of an image is not read, so a picture with links is none.
    let role = if svg.iter().any(|line| line.starts_with("<a ")) {
        "group"
    } else {
        "img"
    };
    let svg = svg.join("\n").replacen(
        "<svg",
        &format!("<svg role=\"{role}\" aria-labelledby=\"figure-{name}\" style=\"--width: {width}px\""),
        1,
    );
    Ok(format!(
        "<figure class=\"picture\">\n<div class=\"scroll\">\n{svg}\n</div>\n<figcaption id=\"figure-{name}\">{}</figcaption>\n</figure>\n",
        escaped(alternative)
    ))
}

/// How wide it was drawn: narrower, its words become small.
fn width(svg: &str) -> Option<f64> {
    static VIEW: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^\s*<svg[^>]*\sviewBox="[-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)"#).expect("a fixed pattern")
    });
    VIEW.captures(svg)?.get(1)?.as_str().parse().ok()
}
