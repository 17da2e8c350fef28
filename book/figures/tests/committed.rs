//! The pictures in the book are those that the kernels and the record give today.

#[test]
fn committed_pictures_are_what_would_be_drawn() -> anyhow::Result<()> {
    let record = figures::record(&figures::record_path())?;
    let mut stale = Vec::new();
    for figure in figures::all(record.as_ref())? {
        let path = figures::generated().join(figure.name).with_extension("svg");
        if std::fs::read_to_string(path).ok().as_deref() != Some(figure.svg.as_str()) {
            stale.push(figure.name);
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {}; draw them again: cargo run -p figures -- write",
        stale.join(", ")
    );
    Ok(())
}

#[test]
fn a_picture_can_stand_in_a_page() -> anyhow::Result<()> {
    for figure in figures::all(None)? {
        let (name, svg) = (figure.name, &figure.svg);
        assert!(svg.starts_with("<!-- made by"), "{name}");
        assert!(svg.contains("<title>") && svg.contains("<desc>"), "{name}");
        assert!(svg.contains("viewBox=\"0 0 440 "), "{name}");
        // A blank line ends a block of HTML in Markdown, and an address would leave the site.
        assert!(!svg.contains("\n\n"), "{name} has a blank line");
        assert_eq!(
            svg.matches("http").count(),
            1,
            "{name}: only the name of SVG itself"
        );
        assert!(
            !svg.contains(" id="),
            "{name}: two pictures on a page must not share names"
        );
    }
    Ok(())
}
