//! Machine code of the ladder's kernels: listings, tables, and the load of their loops on the units of an SM.
//!
//! `figures sass KERNEL FROM TO` prints a listing, `figures sass loops` and `… binds` the tables. `ports` draws it.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use catalog::Shape;
use counters::Counters;
use records::{machine_code::unit, record::Record};
use sass::instruction::{Instruction, Register, Value};
use sass::operation::{Modifier, Operation};
use simt::memory::rules::{self, Addresses};
use timing::Chip;

use crate::busiest::{self, number};
use crate::machine::{self, FIRST};
use crate::recorded::Recorded;
use crate::table::{Table, render_table};

/// Cubins for sm_90, compiled from the committed sources.
const CUBINS: &str = "kernels/cubin";

const KERNELS: &str = "sgemm_v01_row_per_lane sgemm_v01_col_per_lane sgemm_v02_tile32 sgemm_v03_from_global \
    sgemm_v03_from_shared sgemm_v04_float4 sgemm_v05_bank_conflict_free sgemm_v06_outer_product sgemm_v07_double_buffer";

/// Kernels of v11 with a single loop in CUDA C++, which have tables of their own.
const V11: [&str; 3] = ["sgemm_v11_large_tile", "sgemm_v11_free_banks", "sgemm_v11_small_tile"];

/// The committed machine code of a kernel.
pub(crate) struct Code {
    kernel: ::sass::CubinKernel,
}

impl Code {
    pub(crate) fn load(name: &str) -> anyhow::Result<Self> {
        let path = machine::root().join(CUBINS).join(machine::source_of(name)?).with_extension("cubin");
        let shown = path.display().to_string();
        let cubin = std::fs::read(&path).with_context(|| shown.clone())?;
        let module = ::sass::Module::read(&cubin).with_context(|| shown.clone())?;
        let kernel = module.kernels.into_iter().find(|kernel| kernel.name == name);
        let kernel = kernel.with_context(|| format!("{shown} has no kernel {name}"))?;
        Ok(Self { kernel })
    }

    /// Returns one pass of the main loop, along the path that takes every forward branch: where a matrix is aligned
    /// to 16 bytes and the tile is inside of it, kernels of the ladder jump over the code for edges. If edges have a
    /// loop of their own, it is the longer of the two.
    pub(crate) fn pass(&self) -> anyhow::Result<Vec<&Instruction>> {
        let all = &self.kernel.instructions;
        let back = |instruction: &Instruction| {
            let to = target(instruction)?;
            // A branch to itself fills the end of the code.
            (to < instruction.address).then_some((to, instruction.address))
        };
        let loops: Vec<(u32, u32)> = all.iter().filter_map(back).collect();
        let is_inside = |(first, last): (u32, u32)| {
            let holds = |other: &&(u32, u32)| **other != (first, last) && other.0 <= first && last <= other.1;
            loops.iter().any(|other| holds(&other))
        };
        let outermost = loops.iter().copied().filter(|&found| !is_inside(found));
        let passes = outermost.map(|(first, last)| (last - first, self.forward_path(first, last)));
        let (_, pass) = passes
            .max_by_key(|(length, pass)| (multiply_adds(pass), Reverse(*length)))
            .with_context(|| format!("{} has no loop", self.kernel.name))?;
        Ok(pass)
    }

    /// Returns the instructions from `first` to `last` along the path that takes every forward branch. Without paths
    /// that converge again (`BSYNC`), the skipped code is the load of the next tile, which only the last pass skips.
    fn forward_path(&self, first: u32, last: u32) -> Vec<&Instruction> {
        let all = &self.kernel.instructions;
        let within = |i: &&Instruction| (first..=last).contains(&i.address);
        if !all.iter().filter(within).any(|i| i.operation == Operation::Bsync) {
            return all.iter().filter(within).collect();
        }
        let mut pass = Vec::new();
        let mut next = first;
        while let Some(instruction) = all.iter().find(|instruction| instruction.address >= next) {
            pass.push(instruction);
            if instruction.address >= last {
                break;
            }
            let forward = target(instruction).filter(|to| *to > instruction.address);
            next = forward.unwrap_or(instruction.address + 16);
        }
        pass
    }

    /// Returns the number of multiply-adds of each thread in one k.
    fn elements(&self) -> usize {
        let edge = |name| machine::constant(&self.kernel.name, name).unwrap_or(1) as usize;
        edge("TM") * edge("TN")
    }
}

fn target(instruction: &Instruction) -> Option<u32> {
    match instruction.operation {
        Operation::Bra => u32::try_from(instruction.label()?).ok(),
        _ => None,
    }
}

pub(crate) fn multiply_adds(pass: &[&Instruction]) -> usize {
    count(pass, Operation::Ffma)
}

fn count(pass: &[&Instruction], operation: Operation) -> usize {
    pass.iter().filter(|i| i.operation == operation).count()
}

/// A register operand of a multiply-add, from the register file or kept from an earlier one at the same position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperandRead {
    pub(crate) register: u8,
    pub(crate) kept: bool,
    pub(crate) marked: bool,
}

/// The reuse cache: the register kept at each of the three operand positions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reuse([Option<u8>; 3]);

impl Reuse {
    /// Advances by an instruction, and returns its register operands.
    pub(crate) fn next(&mut self, instruction: &Instruction) -> [Option<OperandRead>; 3] {
        let mut reads = [None; 3];
        for ((operand, kept), read) in instruction.sources().iter().zip(&mut self.0).zip(&mut reads) {
            let Value::Register(register) = operand.value else { continue };
            if register == Register::ZERO {
                continue;
            }
            *read = Some(OperandRead { register: register.0, kept: *kept == Some(register.0), marked: operand.reuse });
            *kept = operand.reuse.then_some(register.0);
        }
        reads
    }
}

/// Returns the number of different registers that the operands read from each of the two banks.
pub(crate) fn by_bank(reads: &[Option<OperandRead>; 3]) -> [usize; 2] {
    let fresh: BTreeSet<u8> = reads.iter().flatten().filter(|read| !read.kept).map(|read| read.register).collect();
    let odd = fresh.iter().filter(|register| *register % 2 == 1).count();
    [fresh.len() - odd, odd]
}

/// Cost of the operands of a loop's multiply-adds.
#[derive(Default)]
struct OperandCost {
    /// Multiply-adds with an operand marked for reuse.
    marked: usize,
    /// Multiply-adds that take one, two and three clocks by themselves: as many as operands read from one bank.
    alone: [usize; 3],
    /// Multiply-adds that read all three operands.
    bare: usize,
    /// Clocks of a pass for a single warp, when only the order and the operand reads take time.
    clocks: u64,
}

fn reads(pass: &[&Instruction]) -> OperandCost {
    let mut found = OperandCost::default();
    // Clocks by which operand reads may lag behind instruction issue.
    let slack = Chip::h200().port_slack;
    let (mut reuse, mut busy, mut now) = (Reuse::default(), [0_u64; 2], 0);
    // The first pass begins with an empty cache and no lag, and is not counted.
    for _ in 0..2 {
        let start = now;
        found = OperandCost::default();
        for instruction in pass {
            let reads = reuse.next(instruction);
            now += 1;
            if instruction.operation != Operation::Ffma {
                continue;
            }
            let banks = by_bank(&reads);
            found.marked += usize::from(reads.iter().flatten().any(|read| read.marked));
            found.alone[banks[0].max(banks[1]).clamp(1, 3) - 1] += 1;
            found.bare += usize::from(banks[0] + banks[1] == 3);
            for (busy, n) in busy.iter_mut().zip(banks) {
                if n > 0 {
                    *busy = (*busy).max(now - 1) + n as u64;
                }
            }
            now = now.max(busy[0].max(busy[1]).saturating_sub(slack));
        }
        found.clocks = now - start;
    }
    found
}

/// Returns the listing or table that the arguments of `figures sass` select.
pub fn sass_table(words: &[&str]) -> anyhow::Result<String> {
    match *words {
        ["loops"] => loops(),
        ["registers"] => registers(),
        ["binds"] => binds(&crate::record()?),
        ["v11"] => v11(&crate::record()?),
        ["strides"] => strides(),
        [kernel, from, to] => listing(kernel, address(from)?, address(to)?),
        _ => bail!("of machine code there are `loops`, `registers`, `strides`, `binds`, `v11`, and KERNEL FROM TO"),
    }
}

fn address(text: &str) -> anyhow::Result<u32> {
    let digits = text.trim_start_matches("0x");
    u32::from_str_radix(digits, 16).with_context(|| format!("`{text}` is not an address"))
}

/// Returns the instructions of an address range, with their control bits.
fn listing(kernel: &str, from: u32, to: u32) -> anyhow::Result<String> {
    let code = Code::load(kernel)?;
    let mut out = String::from("addr  waits  instruction                                   stall  releases\n");
    let within = |i: &&Instruction| (from..=to).contains(&i.address);
    let mut n = 0;
    for instruction in code.kernel.instructions.iter().filter(within) {
        let control = instruction.control;
        let waits: Vec<String> = (0..6)
            .filter(|scoreboard| control.wait >> scoreboard & 1 == 1)
            .map(|scoreboard| scoreboard.to_string())
            .collect();
        let written = control.write_barrier.map(|n| format!("{n} when written"));
        let read = control.read_barrier.map(|n| format!("{n} when read"));
        let releases: Vec<String> = written.into_iter().chain(read).collect();
        let line = format!(
            "{:04x}  {:<5}  {:<45} {:>4}{}  {}",
            instruction.address,
            waits.join(","),
            instruction.to_string(),
            control.stall,
            if control.yields { "y" } else { " " },
            releases.join(", ")
        );
        writeln!(out, "{}", line.trim_end())?;
        n += 1;
    }
    anyhow::ensure!(n > 0, "{kernel} has no code from {from:#x} to {to:#x}");
    Ok(out)
}

/// Returns a table with a row for one pass of each kernel's loop; semicolons separate the titles of its columns.
fn table_of_loops<N: ToString>(
    titles: &str, kernels: impl IntoIterator<Item = &'static str>,
    numbers: impl Fn(&Code, &[&Instruction]) -> anyhow::Result<Vec<N>>,
) -> anyhow::Result<String> {
    let mut table = Table::new(titles.split(';'));
    for name in kernels {
        let code = Code::load(name)?;
        let numbers = numbers(&code, &code.pass()?)?;
        table.row(std::iter::once(name.to_owned()).chain(numbers.iter().map(N::to_string)));
    }
    Ok(render_table(&table))
}

/// Returns a table of the loops by classes of instructions.
fn loops() -> anyhow::Result<String> {
    const TITLES: &str = "kernel;registers;k;instructions;FFMA;LDS;LDS.128;LDG;STS;BAR;other";
    table_of_loops(TITLES, KERNELS.split(' ').chain(V11), |code, pass| {
        let ffma = multiply_adds(pass);
        let is_wide = |i: &&&Instruction| i.operation == Operation::Lds && i.has(Modifier::W128);
        let wide = pass.iter().filter(is_wide).count();
        let [lds, ldg, sts, bar] =
            [Operation::Lds, Operation::Ldg, Operation::Sts, Operation::Bar].map(|operation| count(pass, operation));
        let other = pass.len() - ffma - lds - ldg - sts - bar;
        let (registers, k) = (code.kernel.registers as usize, ffma / code.elements());
        Ok(vec![registers, k, pass.len(), ffma, lds - wide, wide, ldg, sts, bar, other])
    })
}

fn registers() -> anyhow::Result<String> {
    const TITLES: &str = "kernel;FFMA;marked;one clock;two;three;instructions;clocks";
    table_of_loops(TITLES, KERNELS.split(' ').chain(V11), |_, pass| {
        let OperandCost { marked, alone: [one, two, three], clocks, .. } = reads(pass);
        Ok(vec![multiply_adds(pass), marked, one, two, three, pass.len(), clocks as usize])
    })
}

/// Returns a table of v07 and the kernels of v11 with the same plan, with their banks and three clocks.
fn v11(record: &Record) -> anyhow::Result<String> {
    let recorded = Recorded::new(record);
    let shape = Shape::square(SIZE);
    const TITLES: &str =
        "kernel;FFMA;two of one bank;none kept;predicted ms;profiled ms;recorded ms;dispatch stalls;FMA;issue";
    let kernels = ["sgemm_v07_double_buffer", "sgemm_v11_large_tile", "sgemm_v11_free_banks"];
    table_of_loops(TITLES, kernels, |code, pass| {
        let name = &code.kernel.name;
        let OperandCost { alone: [_, two, three], bare, .. } = reads(pass);
        let (predicted, launch) = busiest::predicted_launch(name, shape)?;
        let (ms, _) = clocked(&recorded, name)?;
        Ok(vec![
            multiply_adds(pass).to_string(),
            (two + three).to_string(),
            bare.to_string(),
            format!("{:.2}", predicted / 1e3),
            format!("{:.2}", launch.metrics["gpu__time_duration.sum"] / 1e6),
            format!("{ms:.2}"),
            number(launch.metrics.get(busiest::DISPATCH).copied(), 2),
            number(launch.busy(unit::FP32), 1),
            number(launch.busy(unit::ISSUE), 1),
        ])
    })
}

/// Schedulers of an SM: warp instructions, or multiply-adds, per clock.
const SCHEDULERS: f64 = 4.0;
const SIZE: usize = 4096;

fn clocked(recorded: &Recorded<'_>, name: &str) -> anyhow::Result<(f64, u32)> {
    let found = recorded.clocked(name, Shape::square(SIZE));
    found.with_context(|| format!("{name} at {SIZE} was not recorded with its clock"))
}

/// Returns a table of an SM's clocks per multiply-add of a warp: the need of each unit, and the measured time.
fn binds(record: &Record) -> anyhow::Result<String> {
    let recorded = Recorded::new(record);
    const TITLES: &str = "kernel;multiply-adds;issue, PTX;issue;registers;shared;L1;measured";
    table_of_loops(TITLES, KERNELS.split(' '), |code, pass| {
        let name = &code.kernel.name;
        let ffma = multiply_adds(pass) as f64;
        let (counters, l1) = counted(name)?;
        let per = 32.0 / counters.fmas as f64;
        let (ms, mhz) = clocked(&recorded, name)?;
        let all = (SIZE * SIZE * SIZE) as f64 / 32.0;
        let clocks = [
            1.0 / SCHEDULERS,
            counters.warp_instructions as f64 * per / SCHEDULERS,
            pass.len() as f64 / ffma / SCHEDULERS,
            reads(pass).clocks as f64 / ffma / SCHEDULERS,
            counters.wavefronts() as f64 * per,
            l1,
            ms * 1e3 * f64::from(mhz) * f64::from(Chip::h200().sms) / all,
        ];
        let shown = |n: f64| match n {
            0.0 => "0".to_owned(),
            n if n < 1.0 => format!("{n:.3}"),
            n => format!("{n:.2}"),
        };
        Ok(clocks.map(shown).to_vec())
    })
}

/// Counts a launch, and the turns of the first-level cache that one warp's loads take, for each multiply-add.
fn counted(name: &str) -> anyhow::Result<(Counters, f64)> {
    /// Blocks of a register tile are this wide; deep enough for the ends of a kernel not to count for much.
    const SHAPE: Shape = Shape { m: 128, n: 128, k: 1024 };
    let trace = machine::product(name, SHAPE, FIRST)?;
    let turns: f64 = (0..2)
        .flat_map(|buffer| trace.global(buffer))
        .filter(|reached| reached.access.direction.is_load())
        .map(|reached| {
            let access = &reached.access;
            f64::from(rules::l1_passes(&access.addresses, access.bytes))
        })
        .sum();
    let is_fma = |step: &usize| trace.text(*step).trim_start().starts_with("fma");
    let fmas = (0..trace.steps.len()).filter(is_fma).count();
    Ok((trace.report.total, turns / fmas as f64))
}

/// Loads that hit L1, from the tests of `timing`: name, bytes per lane, clocks on an SM, first byte of each lane.
const LOADS: &str = "emulator/timing/tests/data/h200-l1-patterns.txt";

/// Patterns with four bytes per lane that the table shows.
const SHOWN: &str =
    "stride1 stride2 stride4 stride8 stride16 near1_32 stride33 near8_32 stride257 stride1001 stride1025";

/// Returns a table of strided loads: the sectors that they touch, and their clocks.
fn strides() -> anyhow::Result<String> {
    let text = machine::read(LOADS)?;
    let mut table = Table::new(["bytes apart", "lines", "turns", "clocks measured"]);
    for wanted in SHOWN.split(' ') {
        let mut lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let line = lines.find(|words| words[..2] == [wanted, "4"]);
        let line = line.with_context(|| format!("{LOADS} has no {wanted}"))?;
        let mut addresses: Addresses = [None; 32];
        for (address, word) in addresses.iter_mut().zip(&line[3..]) {
            *address = Some(word.parse().with_context(|| format!("{wanted} in {LOADS}"))?);
        }
        let touched: BTreeSet<u64> = addresses.iter().flatten().map(|address| address / 128).collect();
        table.row([
            addresses[1].unwrap_or(0).to_string(),
            touched.len().to_string(),
            rules::l1_passes(&addresses, 4).to_string(),
            line[2].to_owned(),
        ]);
    }
    Ok(render_table(&table))
}
