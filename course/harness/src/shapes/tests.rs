use super::*;

#[test]
fn amounts_have_the_unit_that_reads_best() {
    let shown: Vec<_> = [0.0, 999.0, 1500.0, 141e9, 1.2e17].map(bytes).into();
    assert_eq!(shown, ["0 B", "999 B", "1.5 KB", "141 GB", "120 PB"]);
}
