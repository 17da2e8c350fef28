//! `{{#figure name "text alternative"}}`: inlines a generated picture into the page.

use anyhow::{Context as _, Result, anyhow};
use catalog::text::escaped;

use crate::{Pattern, RepoPaths};

/// Returns the picture inline, so that it takes the page's colours, and without its style, which all pages load. The
/// text alternative is also its caption: every reader should have what a picture shows.
pub(crate) fn figure(repo: &RepoPaths, name: &str, alternative: &str) -> Result<String> {
    static UNUSED: Pattern = pattern!(r"(?s)<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<style>.*?</style>");
    let path = repo.generated().join(name).with_extension("svg");
    let text =
        repo.read(&path).map_err(|why| anyhow!("{why}; pictures are drawn by: cargo xtask book --refresh pictures"))?;
    let shown = repo.display_path(&path);
    let svg = UNUSED.replace_all(&text, "");
    let width = width(&svg).with_context(|| format!("{shown} is not an <svg> with a viewBox"))?;
    // A blank line would end the block of HTML.
    let svg: Vec<&str> = svg.lines().filter(|line| !line.trim().is_empty()).collect();
    // Screen readers skip the inside of an image, so a picture with links must not be one.
    let role = if svg.iter().any(|line| line.starts_with("<a ")) { "group" } else { "img" };
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

/// Returns the drawn width; scaled below it, the text becomes too small.
fn width(svg: &str) -> Option<f64> {
    static VIEW: Pattern = pattern!(r#"^\s*<svg[^>]*\sviewBox="[-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)"#);
    VIEW.captures(svg)?.get(1)?.as_str().parse().ok()
}
