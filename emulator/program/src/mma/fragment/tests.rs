use super::*;

#[test]
fn a_product_takes_what_was_loaded_alike() {
    let [a, b, c] = fragments_taken("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32").expect("a product");
    assert_eq!(fragment_made("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"), Some(a));
    assert_eq!(fragment_made("wmma.load.b.sync.aligned.col.m16n16k16.f16"), Some(b));
    assert_eq!(fragment_made("wmma.load.c.sync.aligned.col.m16n16k16.global.f32"), Some(c));
    assert_ne!(fragment_made("wmma.load.a.sync.aligned.col.m16n16k16.f16"), Some(a));
    assert_ne!(fragment_made("wmma.load.a.sync.aligned.row.m32n8k16.f16"), Some(a));
}

#[test]
fn sums_of_one_product_are_those_of_the_next() {
    let name = "wmma.mma.sync.aligned.rn.row.col.m8n8k4.f64.f64.f64.f64";
    assert_eq!(fragment_made(name), None);
    let name = "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64";
    assert_eq!(fragment_made(name), fragments_taken(name).map(|[_, _, c]| c));
}
