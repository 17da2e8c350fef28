use super::*;

fn lanes(bits: u32) -> LaneMask {
    LaneMask::from_bits(bits)
}

fn frames(fiber: &Fiber) -> Vec<(u32, u32)> {
    fiber.stack.iter().map(|f| (f.pc, f.mask.bits())).collect()
}

#[test]
fn lanes_that_leave_a_loop_one_by_one_take_no_room() {
    let mut f = Fiber::new(LaneMask::ALL);
    for i in 0..31 {
        f.diverge(&[(lanes(1 << i), 9), (lanes(u32::MAX << (i + 1)), 1)], Reconverge::At(9));
        assert_eq!(f.stack.len(), 2);
    }
}

#[test]
fn lanes_that_diverge_reconverge_at_the_given_position() {
    let mut f = Fiber::new(lanes(0xF));
    f.converge(2, 30);
    f.diverge(&[(lanes(0x3), 10), (lanes(0xC), 20)], Reconverge::Enclosing);
    f.diverge(&[(lanes(0x4), 21), (lanes(0x8), 40)], Reconverge::Enclosing);
    assert_eq!(frames(&f), [(30, 0xF), (10, 0x3), (21, 0x4), (40, 0x8)]);
    f.leave_reconvergence(lanes(0x8), 30);
    f.leave_reconvergence(lanes(0x1), 30);
    assert_eq!(frames(&f), [(30, 0x6), (10, 0x2), (10, 0x1), (21, 0x4), (40, 0x8)]);
    let pcs: Vec<u32> = f.stack.iter().map(|frame| frame.reconvergence_pc).collect();
    assert_eq!(pcs, [NEVER, 30, NEVER, 30, NEVER]);
}

#[test]
fn lanes_leave_an_outer_reconvergence_from_within_an_inner_one() {
    let mut f = Fiber::new(lanes(0xF));
    f.converge(2, 30);
    f.converge(3, 20);
    f.leave_reconvergence(lanes(0x1), 30);
    assert_eq!(frames(&f), [(30, 0xE), (20, 0xE), (20, 0x1), (3, 0xF)]);
    f.reconverge();
    assert_eq!(f.top().map(|top| top.reconvergence_pc), Some(NEVER));
}

#[test]
fn lanes_return_to_where_they_were_called() {
    let mut f = Fiber::new(lanes(0xF));
    f.call(11, &[(lanes(0x5), 50), (lanes(0xA), 60)]);
    assert_eq!(frames(&f), [(11, 0xF), (60, 0xA), (50, 0x5)]);
    f.diverge(&[(lanes(0x1), 51), (lanes(0x4), 52)], Reconverge::AtExit);
    f.return_lanes(lanes(0x4), 1);
    assert_eq!(frames(&f), [(11, 0xF), (60, 0xA), (51, 0x1)]);
    f.return_lanes(lanes(0x1), 1);
    f.return_lanes(lanes(0xA), 1);
    assert_eq!(frames(&f), [(11, 0xF)]);
}

#[test]
fn halves_join_again() {
    let mut f = Fiber::new(lanes(0xF));
    f.diverge(&[(lanes(0x3), 10), (lanes(0xC), 20)], Reconverge::At(30));
    let other = f.split(lanes(0xC));
    assert_eq!(frames(&f), [(30, 0x3), (10, 0x3)]);
    assert_eq!(frames(&other), [(30, 0xC), (20, 0xC)]);
    let mut both = vec![f, other];
    join_ready(&mut both);
    assert_eq!(both.len(), 2);
    both.iter_mut().for_each(Fiber::reconverge);
    join_ready(&mut both);
    assert_eq!(both.iter().map(frames).collect::<Vec<_>>(), [[(30, 0xF)]]);
}
