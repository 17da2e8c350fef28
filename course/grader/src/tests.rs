use super::*;

#[test]
fn names_of_files_are_plain_and_different() {
    assert_eq!(file_name("ada"), "ada");
    for odd in ["../x", "", ".", "a/b", "Ada", "\u{1b}[31m", "ä"] {
        let name = file_name(odd);
        assert!(!name.contains('/') && !name.starts_with('.') && name.contains('~'), "{name}");
    }
    assert_ne!(file_name("a/b"), file_name("a:b"));
}

#[test]
fn a_line_has_no_control_characters() {
    assert_eq!(plain("a\u{1b}[31m\nb"), "a [31m b");
    assert_eq!(plain(&"x".repeat(301)).chars().count(), 301);
    assert_eq!((shortened("éé", 2), shortened("ééé", 2)), ("éé".into(), "éé…".into()));
}
