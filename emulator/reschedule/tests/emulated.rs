//! The emulated GPU multiplies with the rescheduled kernel as with the compiler's: bit for bit.
//!
//! It has no machine code of copies and barriers. Here they do nothing, and threads fill shared memory before: the
//! loop multiplies what lies there.

use std::fs;
use std::path::Path;

use reschedule::{Options, reschedule};
use sass::instruction::{Address, Instruction, Register, Value};
use sass::{Architecture, CubinKernel, Module};
use simt::gpu::{Argument, Geometry, Gpu};
use simt::launch::LaunchOptions;

/// Registers of the warps that multiply.
const REGISTERS: u8 = 240;
const KERNEL: &str = "sgemm_v11_stream_k";
const NOP: u128 = 0x000f_e200_0000_0000_0000_0000_0000_7918;
const ROWS: usize = 256;
const COLS: usize = 128;
const THREADS: usize = 256;
/// Shared memory of four pairs of tiles, behind the kilobyte of the system.
const TILES: usize = 4 * (ROWS + COLS) * 16 * 4;
const BEGIN: usize = 1024;
const BARRIERS: usize = 64;

fn decode(word: u128, at: usize) -> Instruction {
    sass::decode(Architecture::Sm90, word, at as u32 * 16).expect("it is in the table")
}

/// Puts an instruction with other operands behind a kernel's code.
fn push(kernel: &mut CubinKernel, word: u128, values: &[(usize, Value)]) {
    let mut instruction = decode(word, kernel.instructions.len());
    values.iter().for_each(|&(operand, value)| instruction.operands[operand].value = value);
    kernel.instructions.push(instruction);
}

/// Replaces what the emulated GPU does not have, and lets each thread fill a part of shared memory at first.
fn without_copies(mut cubin: Vec<u8>) -> Module {
    for kernel in ["sgemm_v11_split_k", KERNEL] {
        let range = sass::code_range(&cubin, kernel).expect("it is there");
        let mut is_wait = false;
        let (words, _) = cubin[range].as_chunks_mut::<16>();
        for (at, word) in words.iter_mut().enumerate() {
            let instruction = decode(u128::from_le_bytes(*word), at);
            let is_absent = instruction.operation.is_asynchronous();
            // A branch back, soon after, tries again.
            let back = instruction.label().is_some_and(|to| to < at as i64 * 16);
            if is_absent || (is_wait && back) {
                *word = NOP.to_le_bytes();
            }
            is_wait = is_absent || (is_wait && !back);
        }
    }
    let mut module = Module::read(&cubin).expect("all is known");
    // What raises them at run time was replaced, too.
    module.kernels.iter_mut().for_each(|kernel| kernel.registers = REGISTERS.into());
    let kernel = module.kernels.iter_mut().find(|kernel| kernel.name == KERNEL).expect("it is there");
    let first = kernel.instructions[0].clone();
    let fill = kernel.instructions.len();
    let [thread, number, place] = [0, 1, 2].map(|register| Value::Register(Register(register)));
    let immediate = Value::Immediate;
    // S2R, IMAD, LOP3, IADD3, STS, BRA of committed kernels.
    push(kernel, 0x000e_6200_0000_2100_0000_0000_000b_7919, &[(0, thread)]);
    let zero = Value::Register(Register::ZERO);
    push(kernel, 0x000f_c800_078e_0200_0000_0100_1105_7824, &[(0, place), (1, thread), (2, immediate(4)), (3, zero)]);
    for i in 0..TILES / 4 / THREADS {
        // A float from 1 to 2 with any digits.
        let factor = 0x9e37_79b1_u32.wrapping_mul(2 * i as u32 + 1);
        push(
            kernel,
            0x000f_c800_078e_0200_0000_0100_1105_7824,
            &[(0, number), (1, thread), (2, immediate(factor)), (3, thread)],
        );
        push(kernel, 0x000f_e400_078e_c0ff_3fff_fffe_0504_7812, &[(1, number), (2, number), (3, immediate(0x7f_ffff))]);
        push(
            kernel,
            0x002f_e200_07ff_e0ff_0fff_fffe_0002_7810,
            &[(0, number), (3, number), (4, immediate(0x3f80_0000))],
        );
        let address = Address::new(Register(2), (BEGIN + i * THREADS * 4) as i32);
        push(kernel, 0x004f_e200_0000_0800_0000_0008_0000_7388, &[(0, Value::Memory(address)), (1, number)]);
    }
    let branch = 0x001f_ea00_0383_ffff_ffff_fffc_0054_7947;
    let word = first.encode().expect("it was decoded");
    push(kernel, word, &[]);
    push(kernel, branch, &[]);
    for (at, to) in [(kernel.instructions.len() - 1, 1), (0, fill)] {
        let mut instruction = decode(branch, at);
        let label = |operand: &&mut sass::instruction::Operand| matches!(operand.value, Value::Label(_));
        instruction.operands.iter_mut().find(label).expect("a branch has one").value = Value::Label(to as i64 * 16);
        kernel.instructions[at] = instruction;
    }
    module
}

/// Returns C, and the elements that were written.
fn run(cubin: Vec<u8>, steps: i32) -> Vec<u32> {
    let gpu = Gpu::default();
    let module = simt::module::Module::load_machine_code(&gpu.memory, &without_copies(cubin), None).expect("it loads");
    let kernel = module.kernel(KERNEL).expect("it is there");
    let c = gpu.upload(&vec![f32::NAN; ROWS * COLS]);
    let [map, other_map] = [(); 2].map(|()| Argument(vec![0; 128]));
    let (m, n, k) = ((ROWS as i32).into(), (COLS as i32).into(), (steps * 16).into());
    let arguments = [m, n, k, 0.75f32.into(), map, other_map, 0.0f32.into(), c.into(), 1i32.into()];
    let geometry =
        Geometry { grid: [1, 1, 1], block: [THREADS as u32, 1, 1], dynamic_shared: (TILES + BARRIERS) as u32 };
    let params = kernel.param_block(&arguments).expect("arguments have the sizes of parameters");
    let report = gpu.launch(kernel, &geometry.request(params, LaunchOptions::default())).expect("it is launched");
    assert!(report.mistakes.groups.is_empty(), "{:?}", report.mistakes.groups.first());
    gpu.read::<f32>(c, ROWS * COLS).into_iter().map(f32::to_bits).collect()
}

#[test]
fn sums_have_the_same_bits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/cubin/v11_stream_k.cubin");
    let old = fs::read(path).expect("it is committed");
    let options = Options { registers: REGISTERS, places: vec![8, 24, 40, 56, 72, 88] };
    let new = reschedule(&old, KERNEL, &options).expect("it is rewritten");
    for steps in [0, 1, 2, 7] {
        let expected = run(old.clone(), steps);
        assert_eq!(run(new.clone(), steps), expected, "{steps} steps");
        let mut distinct = expected.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(steps == 0 || distinct.len() > ROWS * COLS / 2, "{}", distinct.len());
        assert!(expected.iter().all(|bits| f32::from_bits(*bits).is_finite()), "all elements are stored");
    }
}
