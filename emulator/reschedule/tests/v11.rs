//! The kernel for large products of v11.

use std::fs;
use std::path::Path;

use reschedule::{Options, reschedule};
use sass::Architecture;
use sass::instruction::Value;
use sass::operation::Operation;
use timing::{Access, Block, Chip, Instruction, Reach, Setting, Step, Trace, simulate};

const KERNEL: &str = "sgemm_v11_stream_k";
/// Warps of the kernel that multiply: two on each scheduler.
const WARPS: usize = 8;
/// Lines of the loop.
const BODY: std::ops::Range<usize> = 0x122..0x9a6;
/// Holds the address of B, and others those of A.
const B: u8 = 4;

fn cubin(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../kernels/cubin/{name}.cubin"));
    fs::read(path).expect("it is committed")
}

fn options() -> Options {
    Options { registers: 240, places: vec![4, 21, 38, 55, 72, 89] }
}

#[track_caller]
fn refused(name: &str, kernel: &str, options: &Options) -> String {
    reschedule(&cubin(name), kernel, options).expect_err("it is refused").to_string()
}

#[test]
fn only_the_kernels_code_changes() {
    let old = cubin("v11_stream_k");
    let new = reschedule(&old, KERNEL, &options()).expect("it is rewritten");
    let range = sass::code_range(&old, KERNEL).expect("it is there");
    assert_eq!((&new[..range.start], &new[range.end..]), (&old[..range.start], &old[range.end..]));
    let opcodes = |cubin: &[u8]| {
        let mut opcodes: Vec<u8> = cubin[range.clone()].chunks(16).map(|word| word[0]).collect();
        opcodes.sort_unstable();
        opcodes
    };
    assert!(opcodes(&new) == opcodes(&old), "there are other instructions");
}

/// Returns the clocks of a pass by the model of an SM, if no copy is waited for.
fn pass_time(cubin: &[u8]) -> f64 {
    let (words, _) = cubin[sass::code_range(cubin, KERNEL).expect("it is there")].as_chunks::<16>();
    let (mut program, mut pass) = (Vec::new(), Vec::new());
    for (i, word) in words[BODY].iter().map(|word| u128::from_le_bytes(*word)).enumerate() {
        let instruction = sass::decode(Architecture::Sm90, word, 0).expect("it is known");
        let address = instruction.operands.iter().find_map(|operand| match operand.value {
            Value::Memory(address) if instruction.operation == Operation::Lds => Some(address.base.0),
            _ => None,
        });
        // Of loads of 16 bytes per lane: from eight places of a row of B, and from four rows of A.
        let of_load = |base| Access::Shared { wavefronts: if base == B { 4 } else { 2 } };
        program.push(Instruction::from(&instruction));
        pass.push(Step { instruction: i as u32, access: address.map_or(Access::None, of_load) });
    }
    let clocks = |passes: usize| {
        let block = Block { warps: vec![Trace { steps: pass.repeat(passes), ..Trace::default() }; WARPS] };
        let reach = Reach::default();
        let setting =
            Setting { resident: 1, shared: 0, active_sms: 1, load: 1.0, beside: &[], reach: &reach, window: None };
        simulate(Chip::h200(), &program, &[&block], setting).clocks as f64
    };
    (clocks(16) - clocks(8)) / 8.0
}

#[test]
fn a_pass_takes_fewer_clocks() {
    let old = cubin("v11_stream_k");
    let new = reschedule(&old, KERNEL, &options()).expect("it is rewritten");
    let [old, new] = [old, new].map(|cubin| pass_time(&cubin));
    // Multiply-adds alone take 4096.
    assert!(old > 4700.0 && new < 4620.0, "{old} {new}");
}

#[test]
fn other_loops_are_refused() {
    let of = |name, kernel| refused(name, kernel, &options());
    assert_eq!(of("v11_stream_k", "sgemm"), "the cubin has no such kernel");
    assert_eq!(of("v01_col_per_lane", "sgemm_v01_col_per_lane"), "a factor is no load");
}

#[test]
fn what_does_not_fit_is_refused() {
    let with =
        |registers, places: &[usize]| refused("v11_stream_k", KERNEL, &Options { registers, places: places.to_vec() });
    let places = options().places;
    assert_eq!(with(224, &places), "too few registers");
    assert_eq!(with(239, &places), "too few registers");
    assert_eq!(with(240, &places[1..]), "there are not as many places as loads");
    assert_eq!(with(240, &[8, 24, 40, 56, 72, 128]), "a place is behind the last multiply-add");
    // A load so late that its address has just changed.
    assert_eq!(with(240, &[8, 24, 40, 56, 72, 126]), "a result is read too early");
}
