use super::*;

#[test]
fn addresses_are_taken_apart() {
    assert_eq!(split_address("%rd6+-4"), ("%rd6", -4));
}

#[test]
fn computed_as_the_machine_does() {
    let minus = u64::from(-5i32 as u32);
    let cases: [(&str, &[u64], Option<u64>); 8] = [
        ("add.s32", &[3, minus], Some(u64::from(-2i32 as u32))),
        ("mul.wide.s32", &[minus, 4], Some(-20i64 as u64)),
        ("mul.wide.u32", &[minus, 4], Some(minus * 4)),
        ("mad.lo.s32", &[50_000, 50_000, 1], Some(2_500_000_001)),
        ("cvt.s64.s32", &[minus], Some(-5i64 as u64)),
        ("shr.s32", &[minus, 1], Some(u64::from(-3i32 as u32))),
        ("shl.b32", &[1, 40], None),
        ("div.s32", &[1, 0], None),
    ];
    for (mnemonic, operands, value) in cases {
        assert_eq!(compute(mnemonic, operands), value, "{mnemonic}");
    }
}
