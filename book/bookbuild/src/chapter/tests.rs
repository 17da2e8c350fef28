use super::*;

fn items(text: &str) -> String {
    let mut items = Items::default();
    let lines: Vec<String> = text.lines().map(|line| items.line(line)).collect();
    lines.join("|")
}

#[test]
fn a_number_is_an_item_only_where_a_list_counts() {
    insta::assert_snapshot!(items("32."), @r"32\.");
    insta::assert_snapshot!(items("32. It is a column."), @r"32\. It is a column.");
    insta::assert_snapshot!(items("1."), @r"1\.");
    insta::assert_snapshot!(items("1. One.\n2. Two.\n> 16) Sixteen.\n1.5 times"), @r"1. One.|2. Two.|> 16\) Sixteen.|1.5 times");
    insta::assert_snapshot!(items("1. One.\n# Other\n2. Two."), @r"1. One.|# Other|2\. Two.");
}
