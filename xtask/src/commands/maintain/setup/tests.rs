use super::*;

#[track_caller]
fn found(href: &str) -> Option<String> {
    let page = format!("<a href=\"other-1.whl\">x</a>\n<a href=\"{href}\" data-x>y</a>");
    link(&page, "https://mirror.example/root/simple/package/", "a-1.whl")
}

#[test]
fn passwords_are_not_shown() {
    let shown = without_password("https://me:secret@mirror.example/simple/a@b/");
    assert_eq!(shown, "https://…@mirror.example/simple/a@b/");
    assert_eq!(without_password("https://pypi.org/a@b"), "https://pypi.org/a@b");
}

#[test]
fn a_page_of_an_index_leads_to_the_file() {
    let found = |href| found(href).unwrap_or_default();
    assert_eq!(found("https://x.example/a-1.whl#sha256=12"), "https://x.example/a-1.whl");
    assert_eq!(found("/files/a-1.whl"), "https://mirror.example/files/a-1.whl");
    assert_eq!(found("../../files/a-1.whl"), "https://mirror.example/root/simple/package/../../files/a-1.whl");
    assert_eq!(found("a-1.whl.metadata"), "");
}
