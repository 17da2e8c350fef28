use super::*;

const HEAD: &str = "// sm_75: saxpy: 9 registers, 0 bytes smem\n// sm_90: saxpy: 10 registers, 0 bytes smem\n\
                        // sm_90: other: 255 registers, 0 bytes smem\n.version 8.4\n.target sm_90a, debug\n";

#[test]
fn registers_come_from_the_head() {
    let known = registers(HEAD);
    assert_eq!(known.get("saxpy"), Some(&10));
    assert_eq!(known.get("other"), Some(&255));
    assert_eq!(known.get("sax"), None);
}

#[test]
fn directives_are_found() {
    assert_eq!(directive(HEAD, ".version"), Some("8.4"));
    assert_eq!(architecture(HEAD), Some(90));
    assert_eq!(directive(HEAD, ".address_size"), None);
}
