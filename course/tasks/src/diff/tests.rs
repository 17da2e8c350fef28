use super::*;

#[test]
fn hunks_are_those_of_diff() {
    let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
    let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
    assert_eq!(
        unified(old, new, "x", "y"),
        "--- x\n+++ y\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -9,3 +9,4 @@\n i\n j\n k\n+l\n"
    );
    assert_eq!(unified(old, old, "x", "y"), "");
}

#[test]
fn near_changes_share_a_hunk() {
    let text = unified("a\nb\nc\nd\n", "a\nc\nx\nd\n", "x", "y");
    assert_eq!(text, "--- x\n+++ y\n@@ -1,4 +1,4 @@\n a\n-b\n c\n+x\n d\n");
    assert_eq!(unified("", "a\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
}
