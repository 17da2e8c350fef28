//! Rules of tensor maps, and their encoded bytes.

use super::*;

fn tensor(element: Element, dims: &[u64], strides: &[u64], box_dims: &[u32], swizzle: Swizzle) -> TensorMap {
    let steps = [1, 8, 1];
    let (address, steps, fill) = (0x1_0000, &steps[..dims.len()], Fill::Zeros);
    let map = TensorMap::new(TensorMapArguments { address, element, dims, strides, box_dims, steps, swizzle, fill });
    map.expect("follows the rules")
}

fn matrix(swizzle: Swizzle) -> TensorMap {
    TensorMap { steps: [1; RANKS], ..tensor(Element::F32, &[64, 64], &[256], &[16, 8], swizzle) }
}

#[test]
fn each_rule_is_checked() {
    let check = |want: Result<(), Rule>, change: fn(&mut TensorMap)| {
        let mut m = matrix(Swizzle::B64);
        change(&mut m);
        let made = TensorMap::new(TensorMapArguments {
            address: m.address,
            element: m.element,
            dims: &m.dims[..m.rank],
            strides: &m.strides[1..m.rank],
            box_dims: &m.box_dims[..m.rank],
            steps: &m.steps[..m.rank],
            swizzle: m.swizzle,
            fill: m.fill,
        });
        assert_eq!(made.map(|_| ()), want);
    };
    check(Ok(()), |_| {});
    check(Ok(()), |m| m.fill = Fill::Nan);
    check(Ok(()), |m| m.dims = [1 << 32; RANKS]);
    check(Ok(()), |m| m.box_dims = [16, 256, 1, 1, 1]);
    check(Err(Rule::Address(0x1_0008)), |m| m.address = 0x1_0008);
    check(Err(Rule::Dimension(1, 0)), |m| m.dims[1] = 0);
    check(Err(Rule::Dimension(0, (1 << 32) + 1)), |m| m.dims[0] = (1 << 32) + 1);
    check(Err(Rule::Stride(0, 264)), |m| m.strides[1] = 264);
    check(Err(Rule::LongStride(0, 1 << 40)), |m| m.strides[1] = 1 << 40);
    check(Err(Rule::Box(1, 257)), |m| m.box_dims[1] = 257);
    check(Err(Rule::Box(0, 0)), |m| m.box_dims[0] = 0);
    check(Err(Rule::Step(1, 9)), |m| m.steps[1] = 9);
    check(Err(Rule::Row(72)), |m| m.box_dims[0] = 18);
    check(Err(Rule::Swizzle(80, 64)), |m| m.box_dims[0] = 20);
    check(Err(Rule::BoxBytes(262_144)), |m| (m.box_dims, m.swizzle) = ([256, 256, 1, 1, 1], Swizzle::None));
    check(Err(Rule::Nan), |m| (m.fill, m.element) = (Fill::Nan, Element::U32));
}

#[test]
fn bytes_that_are_no_map_are_refused() {
    let map = tensor(Element::Bf16, &[1 << 32, 3, 5], &[1 << 39, 96], &[8, 256, 16], Swizzle::B32);
    let bytes = map.encode();
    assert_eq!(TensorMap::decode(&bytes), Ok(map));
    assert_eq!(TensorMap::decode(&[0; BYTES]), Err(NotATensorMap::Zeros));
    assert_eq!(TensorMap::decode(&[1; BYTES]), Err(NotATensorMap::Other));
    for at in 0..BYTES {
        let mut changed = bytes;
        changed[at] ^= 4;
        let why = if at < 8 { NotATensorMap::Other } else { NotATensorMap::Changed };
        assert_eq!(TensorMap::decode(&changed), Err(why), "byte {at}");
    }
}

#[test]
fn tf32_is_rounded_to_nearest() {
    let mut map = matrix(Swizzle::None);
    assert!(map.converted().is_none());
    map.element = Element::Tf32;
    let round = map.converted().expect("a conversion");
    let check = |from: u32, to: u32| assert_eq!(round(from), to, "{from:08x}");
    check(0x3F80_0FFF, 0x3F80_0000);
    check(0x3F80_1000, 0x3F80_0000);
    check(0x3F80_1001, 0x3F80_2000);
    check(0x3F80_3000, 0x3F80_4000);
    check(0x7F7F_FFFF, 0x7F80_0000);
    check(0xFF80_0000, 0xFF80_0000);
    check(0xFFFF_FFFF, 0x7FFF_E000);
    check(0x0040_1000, 0x0040_0000);
    check(0x8000_0001, 0x8000_0000);
}
