//! Times of machine code patched word by word, measured on an H200 and predicted by the model.

use sass::instruction::Control;
use simt::memory::rules;
use timing::{
    Access, Block, Chip, Instruction, Outcome, Reach, Reason, Sectors, Setting, Source, Step, Trace, Unit, simulate,
};

/// Returns an instruction of a loop body; `R6+` marks a register for reuse.
fn on(unit: Unit, registers: [&str; 3]) -> Instruction {
    let source = |text: &str| {
        let name = text.trim_start_matches('R');
        let register = name.trim_end_matches('+').parse().ok()?;
        Some(Source { register, n: 1, reuse: name.ends_with('+') })
    };
    Instruction {
        unit,
        sources: registers.map(source),
        bytes: 4,
        bypasses: false,
        pending: 0,
        columns: 0,
        shared_rows: 0,
        ends_group: false,
        depth: 0,
        awaits_launch: false,
        control: Control { stall: 1, ..Control::default() },
    }
}

fn fma(registers: [&str; 3]) -> Instruction {
    on(Unit::Fma, registers)
}

fn access(unit: Unit, bytes: u8) -> Instruction {
    Instruction { bytes, ..on(unit, ["", "", ""]) }
}

/// Returns the steps that repeat `accesses` with their instructions `n` times.
fn trace(accesses: &[Access], n: usize) -> Trace {
    let step = |i: usize| Step { instruction: (i % accesses.len()) as u32, access: accesses[i % accesses.len()] };
    Trace { steps: (0..n * accesses.len()).map(step).collect(), sectors: (0..4).collect(), ..Trace::default() }
}

fn run(program: &[Instruction], block: &Block) -> Outcome {
    let (chip, reach) = (Chip::h200(), &Reach::default());
    let setting = Setting { resident: 1, shared: 0, active_sms: chip.sms, load: 1.0, beside: &[], reach, window: None };
    simulate(Chip::h200(), program, &[block], setting)
}

/// Compares the clocks of one round of the loop, from two lengths; `n_warps` on all schedulers, or all on the first.
#[track_caller]
fn check(program: &[Instruction], accesses: &[Access], n_warps: usize, alone: bool, expected: f64) {
    let clocks = |n: usize| {
        let warp = |i: usize| {
            if alone && !i.is_multiple_of(4) { Trace::default() } else { trace(accesses, n) }
        };
        let block = Block { warps: (0..n_warps).map(warp).collect() };
        run(program, &block).clocks as f64
    };
    let got = (clocks(600) - clocks(200)) / 400.0;
    assert!((got - expected).abs() <= 0.03 * expected, "{got:.2} clocks a round, measured {expected:.2}");
}

/// Compares arithmetic on 4 warps per scheduler: clocks for one instruction of each warp.
#[track_caller]
fn arithmetic(program: &[Instruction], expected: f64) {
    let accesses = vec![Access::None; program.len()];
    check(program, &accesses, 16, false, expected * 4.0 * program.len() as f64);
}

#[test]
fn registers_of_one_bank_are_read_one_by_one() {
    arithmetic(&[fma(["R2", "R4", "R6"])], 3.0);
    arithmetic(&[fma(["R2", "R5", "R6"])], 2.0);
    arithmetic(&[fma(["R2", "R5", ""])], 1.0);
    arithmetic(&[fma(["R2", "R2", "R5"])], 1.0);
    arithmetic(&[fma(["R2", "R5", "R6"]), fma(["R2", "R5", "R7"])], 1.5);
}

#[test]
fn integers_take_two_clocks_and_leave_one_to_floats() {
    arithmetic(&[on(Unit::Alu, ["R2", "R5", ""])], 2.0);
    arithmetic(&[on(Unit::IntegerFma, ["R2", "R5", ""])], 2.0);
    arithmetic(&[fma(["R2", "R5", ""]), on(Unit::Alu, ["R2", "R5", ""])], 1.0);
    arithmetic(&[fma(["R2", "R5", ""]), on(Unit::IntegerFma, ["R2", "R5", ""])], 1.0);
}

#[test]
fn a_kept_register_needs_no_port_while_the_warp_goes_on() {
    let kept = [fma(["R2", "R5+", "R6"]), fma(["R2", "R5+", "R8"])];
    let accesses = [Access::None; 2];
    check(&kept, &accesses, 1, true, 4.0);
    let other = [fma(["R5+", "R2", "R7"]), fma(["R5+", "R4", "R9"])];
    check(&other, &accesses, 1, true, 2.0);
}

#[test]
fn a_barrier_costs_two_clocks_a_warp_and_twelve() {
    let mut barrier = on(Unit::Barrier, ["", "", ""]);
    barrier.control.stall = 1;
    for n_warps in [1, 2, 4, 8, 16, 32] {
        check(&[barrier], &[Access::None], n_warps, false, 12.0 + 2.0 * n_warps as f64);
    }
}

#[test]
fn shared_memory_passes_one_wavefront_a_clock() {
    let shared = |wavefronts| Access::Shared { wavefronts };
    for (bytes, wavefronts, clocks) in [(4, 1, 1.0), (4, 2, 2.0), (4, 32, 32.0), (16, 2, 2.0), (16, 8, 8.0)] {
        check(&[access(Unit::LoadShared, bytes)], &[shared(wavefronts)], 16, false, 16.0 * clocks);
    }
    check(&[access(Unit::LoadShared, 4)], &[shared(1)], 16, true, 4.0 * 2.0);
    for (bytes, clocks) in [(4, 4.0), (8, 6.0), (16, 10.0)] {
        check(&[access(Unit::StoreShared, bytes)], &[shared(1)], 16, true, 4.0 * clocks);
    }
}

/// Compares loads of which each waits for the one before.
#[track_caller]
fn latency(unit: Unit, bytes: u8, touched: Access, expected: f64) {
    let mut load = access(unit, bytes);
    load.control.write_barrier = Some(0);
    load.control.wait = 1;
    check(&[load], &[touched], 1, true, expected);
}

#[test]
fn results_take_as_long_as_measured() {
    for (bytes, wavefronts, clocks) in [(4, 1, 24.0), (8, 1, 27.0), (16, 2, 31.0)] {
        latency(Unit::LoadShared, bytes, Access::Shared { wavefronts }, clocks);
    }
    for (bytes, wavefronts, clocks) in [(4, 1, 33.0), (8, 2, 35.0), (16, 4, 40.0)] {
        let sectors = Sectors { first: 0, n: 4 };
        latency(Unit::LoadGlobal, bytes, Access::Global { wavefronts, sectors, is_whole: true }, clocks);
    }
}

#[test]
fn loads_pass_over_l1_as_often_as_measured() {
    for line in include_str!("data/h200-l1-patterns.txt").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, bytes, clocks, offsets @ ..] = &words[..] else {
            panic!("{line}");
        };
        if name.starts_with('#') {
            continue;
        }
        let [bytes, clocks] = [bytes, clocks].map(|word| word.parse::<f64>().expect("a number"));
        let addresses = std::array::from_fn(|lane| Some(offsets[lane].parse().expect("bytes")));
        let passes = rules::l1_passes(&addresses, bytes as u32);
        // The loop takes 2 clocks by itself.
        let fewest = f64::from(passes.max(2));
        assert!((clocks - fewest).abs() < 0.5, "{name}: {passes} passes, {clocks} clocks");
    }
}

#[test]
fn what_a_full_queue_holds_up_waits_for_the_unit() {
    let program = [access(Unit::StoreShared, 4)];
    let accesses = [Access::Shared { wavefronts: 32 }];
    let block = Block { warps: vec![trace(&accesses, 100); 32] };
    let outcome = run(&program, &block);
    let clocks = |reason: Reason| outcome.stalls[0].clocks[reason as usize];
    // No scheduler has anything else to issue.
    assert!(clocks(Reason::Unit) > 20 * clocks(Reason::NotSelected), "{:?}", outcome.stalls);
}
