//! Boxes against an element-by-element definition, rules, and encoded bytes.

use super::*;

/// Returns a matrix of `dims` (columns, rows), whose rows lie `stride` bytes apart, of 4-byte floats.
fn matrix(dims: [u64; 2], stride: u64, box_dims: [u32; 2], swizzle: Swizzle) -> TensorMap {
    tensor(Element::F32, &dims, &[stride], &box_dims, &[1, 1], swizzle)
}

fn tensor(
    element: Element,
    dims: &[u64],
    strides: &[u64],
    box_dims: &[u32],
    steps: &[u32],
    swizzle: Swizzle,
) -> TensorMap {
    let map = TensorMap::new(0x1_0000, element, dims, strides, box_dims, steps, swizzle, Fill::Zeros);
    map.expect("follows the rules")
}

/// Returns the addresses of each byte of the box, in element order: in shared memory, and in global memory.
fn by_definition(map: &TensorMap, at: [i32; RANKS], shared: u32) -> Vec<(u32, Option<u64>)> {
    let extent = map.extent();
    let mut bytes = Vec::new();
    for number in 0..extent.iter().product::<u64>() {
        let (mut rest, mut inside, mut global) = (number, true, map.address);
        for d in 0..RANKS {
            let coordinate = i64::from(at[d]) + (rest % extent[d]) as i64 * i64::from(map.steps[d]);
            rest /= extent[d];
            inside &= d >= map.rank || (0..map.dims[d] as i64).contains(&coordinate);
            global = global.wrapping_add((coordinate as u64).wrapping_mul(map.strides[d]));
        }
        let (row, column) = (number / extent[0], number % extent[0]);
        for byte in 0..map.element.bytes() {
            let place = shared + (row * map.pitch() + column * map.element.bytes() + byte) as u32;
            bytes.push((map.swizzle.apply(place), inside.then_some(global + byte)));
        }
    }
    bytes
}

#[track_caller]
fn check(map: &TensorMap, at: &[i32], shared: u32) {
    let mut corner = [0; RANKS];
    corner[..at.len()].copy_from_slice(at);
    let mut found = Vec::new();
    map.runs(corner, shared, |run| {
        assert!(run.bytes > 0);
        for byte in 0..run.bytes {
            found.push((run.shared + byte, run.global.map(|from| from + u64::from(byte))));
        }
    });
    assert_eq!(found.len() as u64, map.box_bytes());
    let first = (0..found.len()).find(|&i| by_definition(map, corner, shared)[i] != found[i]);
    assert_eq!(first, None, "the first byte that differs");
    // No two bytes lie at one place, and all lie in the box.
    found.sort_unstable_by_key(|(place, _)| *place);
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let range = shared..shared + map.shared_bytes() as u32;
    assert!(found.iter().all(|(place, _)| range.contains(place)));
}

#[test]
fn runs_are_the_bytes_of_the_box() {
    use Swizzle::{B32, B64, B128};
    let plain = matrix([100, 40], 400, [16, 8], Swizzle::None);
    for at in [[0, 0], [3, 5], [90, 36], [-5, -2], [-16, 0], [100, 0], [0, 40], [i32::MAX, 1], [i32::MIN, i32::MIN]] {
        check(&plain, &at, 1024);
    }
    check(&matrix([100, 40], 400, [8, 16], B32), &[95, 30], 1024);
    check(&matrix([100, 40], 400, [16, 16], B64), &[-3, -3], 1024);
    check(&matrix([100, 40], 400, [32, 16], B128), &[80, 7], 1024);
    // The address is a multiple of 128 only: the pattern begins in the middle.
    check(&matrix([100, 40], 400, [32, 16], B128), &[0, 0], 1024 + 384);
    // A row that is narrower than the swizzle.
    check(&matrix([100, 40], 400, [16, 16], B128), &[0, 0], 2048);
    check(&tensor(Element::U8, &[77], &[], &[64], &[1], B64), &[40], 1024);
    check(&tensor(Element::F16, &[24, 5, 7], &[64, 320], &[8, 4, 3], &[1, 1, 1], Swizzle::None), &[20, 3, -1], 1024);
    check(&tensor(Element::F64, &[6, 9, 9], &[48, 432], &[4, 7, 8], &[1, 3, 2], Swizzle::None), &[-1, -1, 2], 1024);
    let five = tensor(Element::Bf16, &[16, 3, 3, 3, 3], &[32, 96, 288, 864], &[16, 2, 2, 2, 2], &[1; 5], B32);
    check(&five, &[0, 2, -1, 1, 2], 1024);
}

#[test]
fn each_rule_is_checked() {
    let check = |want: Result<(), Rule>, change: fn(&mut TensorMap)| {
        let mut m = matrix([64, 64], 256, [16, 8], Swizzle::B64);
        change(&mut m);
        let made = TensorMap::new(
            m.address,
            m.element,
            &m.dims[..m.rank],
            &m.strides[1..m.rank],
            &m.box_dims[..m.rank],
            &m.steps[..m.rank],
            m.swizzle,
            m.fill,
        );
        assert_eq!(made.map(|_| ()), want);
    };
    check(Ok(()), |_| {});
    check(Ok(()), |m| m.fill = Fill::Nan);
    check(Ok(()), |m| m.dims = [1 << 32; RANKS]);
    check(Ok(()), |m| m.box_dims = [16, 256, 1, 1, 1]);
    check(Err(Rule::Address(0x1_0008)), |m| m.address = 0x1_0008);
    check(Err(Rule::Dimension(1, 0)), |m| m.dims[1] = 0);
    check(Err(Rule::Dimension(0, (1 << 32) + 1)), |m| {
        m.dims[0] = (1 << 32) + 1;
    });
    check(Err(Rule::Stride(0, 264)), |m| m.strides[1] = 264);
    check(Err(Rule::Stride(0, 1 << 40)), |m| m.strides[1] = 1 << 40);
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
    let map = tensor(Element::Bf16, &[1 << 32, 3, 5], &[1 << 39, 96], &[8, 256, 16], &[1, 8, 1], Swizzle::B32);
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
    let mut map = matrix([64, 64], 256, [16, 8], Swizzle::None);
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
