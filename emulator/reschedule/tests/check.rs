//! A main loop with one wrong instruction is refused.

use std::fs;
use std::path::Path;

use reschedule::{Options, check, reschedule};
use sass::Architecture;
use sass::instruction::{Instruction, Register, Value};
use sass::operation::Operation;

const KERNEL: &str = "sgemm_v11_stream_k";
/// Lines of the loop.
const BODY: std::ops::Range<usize> = 0x122..0x9a6;

/// Checks the new loop after a change of its `n`th instruction of an operation.
#[track_caller]
fn changed(operation: Operation, n: usize, change: impl FnOnce(&mut Instruction)) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/cubin/v11_stream_k.cubin");
    let old = fs::read(path).expect("it is committed");
    let options = Options { registers: 240, places: vec![8, 24, 40, 56, 72, 88] };
    let mut new = reschedule(&old, KERNEL, &options).expect("it is rewritten");
    let code = sass::code_range(&new, KERNEL).expect("it is there");
    let (words, _) = new[code].as_chunks_mut::<16>();
    let decode = |word: &[u8; 16]| sass::decode(Architecture::Sm90, u128::from_le_bytes(*word), 0).ok();
    let known = words[BODY].iter_mut().filter_map(|word| Some((decode(word)?, word)));
    let (mut instruction, word) = known.filter(|(i, _)| i.operation == operation).nth(n).expect("there are as many");
    change(&mut instruction);
    *word = instruction.encode().expect("it has a code").to_le_bytes();
    check(&old, &new, KERNEL, &options).map_or_else(|refusal| refusal.to_string(), |()| "right".into())
}

#[test]
fn a_factor_of_another_column_is_another_result() {
    let of = |n| changed(Operation::Ffma, n, |ffma| ffma.operands[2] = ffma.operands[3]);
    assert_eq!(of(0), "a pass of the loop has another result");
    assert_eq!(of(2047), "a pass of the loop has another result");
}

#[test]
fn the_order_of_a_product_does_not_matter() {
    assert_eq!(changed(Operation::Ffma, 7, |ffma| ffma.operands.swap(1, 2)), "right");
}

#[test]
fn a_load_from_elsewhere_is_another_result() {
    let from_next = |load: &mut Instruction| {
        let Value::Memory(address) = &mut load.operands[1].value else { panic!("a load has an address") };
        address.offset += 16;
    };
    assert_eq!(changed(Operation::Lds, 95, from_next), "a pass of the loop has another result");
}

#[test]
fn registers_of_the_hardware_are_refused() {
    let to = |register| {
        let register = Value::Register(Register(register));
        changed(Operation::Ffma, 1024, |ffma| ffma.operands[0].value = register)
    };
    assert_eq!(to(237), "an address, a predicate or a uniform register differs");
    // R238 and R239 of 240.
    assert_eq!(to(238), "a register is not one of the thread, or kept by the hardware");
}

#[test]
fn loads_are_waited_for() {
    let early = "a register is read before its load is waited for";
    assert_eq!(changed(Operation::Ffma, 128, |ffma| ffma.control.wait = 0), early);
    assert_eq!(changed(Operation::Lds, 3, |load| load.control.write_barrier = Some(5)), early);
    let silent = "nothing says when a load has arrived";
    assert_eq!(changed(Operation::Lds, 3, |load| load.control.write_barrier = None), silent);
}

#[test]
fn addresses_change_when_their_loads_have_read_them() {
    let late = "a register is written before it has been read";
    assert_eq!(changed(Operation::Iadd3, 1, |add| add.control.wait = 0), late);
}

#[test]
fn a_barrier_is_waited_for() {
    // The branch that tries again depends on what a barrier of shared memory answers, which takes as long as a load.
    let early = "a register is read before its load is waited for";
    assert_eq!(changed(Operation::Bra, 1, |branch| branch.control.wait = 0), early);
}
