use super::*;
use crate::{passes::cfg::Cfg, virtual_op::for_each_register};
use arithmetic::lanes::Class::{Bits32, Bits64, Pred};
use arithmetic::lanes::{AluArgs, Lanes, NONE};
use program::operands::{AluClasses, Role};
use program::{Access, Addr, MemSpace, Reconverge};
use proptest::prelude::*;

/// Never runs: the test interprets ops itself.
///
/// # Safety
/// None: nothing is read or written.
#[expect(unsafe_code, reason = "the type of a function that never runs here")]
unsafe fn nothing(_: &mut Lanes, _: &AluArgs, _: u32) {}

/// Registers of the random programs: predicates from 2, then 32 bits, then 64.
const N: [u32; 3] = [4, 8, 5];
const SHAPES: [&[Class]; 6] =
    [&[], &[Bits32], &[Bits64], &[Bits32, Bits32, Bits32], &[Bits64, Bits32], &[Pred, Bits64, Pred]];

fn classes() -> Vec<Class> {
    let mut all = vec![Pred, Pred];
    for (class, n) in [Pred, Bits32, Bits64].into_iter().zip(N) {
        all.extend((0..n).map(|_| class));
    }
    all
}

fn pick(class: Class, seed: u32) -> u32 {
    match class {
        Pred => 2 + seed % N[0],
        Bits32 => 2 + N[0] + seed % N[1],
        Bits64 => 2 + N[0] + N[1] + seed % N[2],
    }
}

/// Makes an op of eight random numbers.
fn op(at: u32, n_ops: u32, r: &[u32; 8]) -> VirtualOp {
    let mut classes = AluClasses::NONE;
    let mut guard = if r[0].is_multiple_of(4) { pick(Pred, r[1]) } else { TRUE };
    let kind = match r[2] % 10 {
        0 => OpKind::Branch { target: r[3] % n_ops, reconverge: Reconverge::AtExit },
        1 => {
            let regs = [pick(Bits32, r[3]) as i32, pick(Bits32, r[4]) as i32];
            // The address is a 64-bit register, so it cannot be among the results.
            let addr = Addr { src: pick(Bits64, r[5]) as i32, wide: true, offset: 0 };
            OpKind::Load(Box::new(Access::new(MemSpace::Global, addr, 4, &regs)))
        }
        2 => {
            let value = pick(Bits32, r[3]);
            let other = pick(Bits32, r[4]);
            let dst = if other == value { pick(Bits32, r[4] + 1) } else { other };
            OpKind::Redux { kind: program::ReduxKind::Add, dst, src: [value as i32, !0] }
        }
        3 if r[3].is_multiple_of(3) => {
            guard = if guard == TRUE { pick(Pred, r[4]) } else { guard };
            OpKind::Exit
        }
        _ => {
            let srcs = SHAPES[r[3] as usize % SHAPES.len()];
            let dst_class = [Pred, Bits32, Bits64][r[4] as usize % 3];
            classes = AluClasses { dst: dst_class, srcs };
            let mut src = [NONE; 4];
            for (i, &class) in srcs.iter().enumerate() {
                src[i] = pick(class, r[5 + i]) as i32;
            }
            OpKind::Alu { run: nothing, args: AluArgs { dst: pick(dst_class, r[1] >> 8), src } }
        }
    };
    let negated = guard != TRUE && r[0] & 64 != 0;
    VirtualOp { guard, negated, instr: at, first: true, classes, ..VirtualOp::new(kind) }
}

/// Runs one lane. `slots` maps a register to its cells.
fn trace(ops: &[VirtualOp], cells: usize, slots: impl Fn(u32, Class) -> usize) -> Vec<u64> {
    let mut memory = vec![0u64; cells];
    memory[slots(TRUE, Pred)] = 1;
    let mut trace = Vec::new();
    let mut at = 0;
    for _ in 0..400 {
        let Some(op) = ops.get(at) else { break };
        at += 1;
        let holds = (memory[slots(op.guard, Pred)] & 1 == 1) != op.negated;
        if !holds {
            continue;
        }
        // Early results are overwritten with garbage before the sources are read.
        for_each_register(op, &mut |register, class, role| {
            if role == Role::EarlyDef {
                write(&mut memory, slots(register, class), class, 0xdead);
            }
        });
        let mut hash = u64::from(op.instr) + 1;
        for_each_register(op, &mut |register, class, role| {
            if role.is_use() {
                let value = read(&memory, slots(register, class), class);
                hash = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
            }
        });
        trace.push(hash);
        match op.kind {
            OpKind::Exit => break,
            OpKind::Branch { target, .. } => at = target as usize,
            _ => {}
        }
        for_each_register(op, &mut |register, class, role| {
            if !role.is_use() {
                hash = hash.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 3;
                write(&mut memory, slots(register, class), class, hash);
            }
        });
    }
    trace
}

fn read(memory: &[u64], slot: usize, class: Class) -> u64 {
    match class {
        Pred => memory[slot] & 1,
        Bits32 => memory[slot],
        Bits64 => memory[slot] << 32 | memory[slot + 1],
    }
}

fn write(memory: &mut [u64], slot: usize, class: Class, value: u64) {
    match class {
        Pred => memory[slot] = value & 1,
        Bits32 => memory[slot] = value & 0xffff_ffff,
        Bits64 => {
            memory[slot] = value >> 32;
            memory[slot + 1] = value & 0xffff_ffff;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn allocated_programs_compute_the_same(seeds in prop::collection::vec(prop::array::uniform8(0u32..1 << 16), 2..40)) {
        let n_ops = seeds.len() as u32 + 1;
        let mut ops: Vec<VirtualOp> = seeds.iter().zip(0..).map(|(r, at)| op(at, n_ops, r)).collect();
        ops.push(VirtualOp { instr: n_ops, first: true, ..VirtualOp::new(OpKind::Exit) });
        let want = trace(&ops, 200, |register, _| 2 * register as usize);

        let cfg = Cfg::new(&ops);
        let classes = classes();
        let live = Liveness::new(&ops, &cfg, classes.len()).expect("small");
        let allocation = allocate(&ops, &live, &classes, &Account::default()).expect("small");
        for op in &mut ops {
            rewrite(op, &allocation);
        }
        let lines = allocation.n_preds as usize;
        let got = trace(&ops, 200, |place, class| match class {
            Pred => place as usize,
            _ => lines + place as usize,
        });
        prop_assert_eq!(got, want);
        let bound = 2 * N[2] + N[1];
        prop_assert!(allocation.n_lines <= bound && allocation.n_preds <= 2 + N[0]);
    }
}
