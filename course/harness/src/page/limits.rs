//! Limits: the clocks that each unit of a multiprocessor needs, if no warp ever waited.
//!
//! The driver reports the time of each unit for machine code; PTX has other instructions, so its issue limits nothing.

#[cfg(test)]
mod tests;

use ::counters::Counters;
use catalog::text::{Paint, Table};
use catalog::{Format, Shape, Work};
use records::machine_code::{Prediction, unit};

use super::{Entry, figure};
use crate::device::counters::{self, Arithmetic};

/// A unit with a column of its own only where it needs this part of the most that a kernel needs.
const WORTH_A_COLUMN: f64 = 0.1;

/// Needs of one kernel, in clocks of a multiprocessor for as much work as the table counts by.
#[derive(Debug, Clone, PartialEq)]
struct Needs {
    arithmetic: f64,
    issue: f64,
    /// Issue with reading and writing registers. `None` where it was not counted.
    registers: Option<f64>,
    shared: f64,
    l1: f64,
    l2: f64,
    dram: f64,
    /// The unit with the longest busy time.
    unit: String,
    most: f64,
    /// Whether the instructions are those of the machine.
    is_exact: bool,
}

impl Needs {
    /// Computes limits from the driver's prediction; `None` where that names no unit.
    fn predicted(prediction: &Prediction, of: Arithmetic, per: f64) -> Option<Self> {
        let clocks = |name| {
            let found = prediction.of_unit(name);
            found.map_or(0.0, |bound| prediction.clocks(bound) / per)
        };
        let first = prediction.bounds.first()?;
        let issue = clocks(unit::ISSUE);
        Some(Self {
            arithmetic: clocks(match of {
                Arithmetic::Fp32 => unit::FP32,
                Arithmetic::Fp64 => unit::FP64,
                Arithmetic::Tensor(_) => unit::TENSOR,
            }),
            issue,
            registers: Some(clocks(unit::REGISTERS).max(issue)),
            shared: clocks(unit::SHARED),
            l1: clocks(unit::L1),
            l2: clocks(unit::L2),
            dram: clocks(unit::DRAM),
            unit: units(prediction),
            most: prediction.clocks(first) / per,
            is_exact: true,
        })
    }

    /// Computes limits from counts alone. Instructions of the PTX are no limit: ptxas leaves some of them out.
    fn counted(c: &Counters, of: Arithmetic, per: f64, is_exact: bool) -> Option<Self> {
        let clocks = of.clocks(c).map(|(unit, clocks)| (unit, clocks / per));
        let [(_, arithmetic), (_, issue), (_, shared), (_, l1)] = clocks;
        let limiting = clocks.into_iter().filter(|(unit, _)| is_exact || *unit != counters::Unit::Issue);
        let (unit, most) = counters::binding(limiting)?;
        let or_issue = if is_exact || issue <= most { "" } else { ", or issue" };
        Some(Self {
            arithmetic,
            issue,
            registers: None,
            shared,
            l1,
            l2: 0.0,
            dram: 0.0,
            unit: if c.bulk_copies > 0 {
                format!("{}{or_issue} (without copies)", unit.name())
            } else {
                format!("{}{or_issue}", unit.name())
            },
            most,
            is_exact,
        })
    }

    fn of_entry(entry: &Entry<'_>, c: &Counters, per: f64) -> Option<Self> {
        let of = Arithmetic::of_work(entry.work);
        let code = entry.passed()?.machine_code.as_deref();
        let prediction = code.and_then(|code| code.predicted.prediction.as_ref());
        match prediction {
            Some(prediction) => Self::predicted(prediction, of, per),
            None => {
                let is_exact = code.is_some_and(|code| code.counters.is_some());
                Self::counted(c, of, per, is_exact)
            }
        }
    }
}

/// Returns the unit that is needed longest, and what is level with it.
fn units(prediction: &Prediction) -> String {
    let units: Vec<&str> = prediction.longest().iter().map(|bound| bound.unit.as_str()).collect();
    units.join(", then ")
}

/// Returns the unit of work of a table: all of its kernels are of one kind.
pub(super) fn unit_of_work(shape: Shape, counted: &[(&Entry<'_>, Counters)]) -> &'static str {
    let is_tensor = |(entry, _): &(&Entry<'_>, Counters)| matches!(entry.work, Work::Tensor { .. });
    match (shape.k, counted.iter().all(is_tensor)) {
        (0, _) => "32 elements",
        (_, false) => "multiply-add of a warp",
        (_, true) => "2048 multiply-adds of tensor cores (16 x 8 x 16)",
    }
}

/// Returns the table: clocks for as much work as [`unit_of_work`] names.
pub(super) fn table(shape: Shape, counted: &[(&Entry<'_>, Counters)], paint: Paint) -> String {
    let is_product = shape.k > 0;
    let needs: Vec<(&str, Needs)> = counted
        .iter()
        .filter_map(|(entry, c)| {
            let per = if is_product {
                Arithmetic::of_work(entry.work).times(c)
            } else {
                shape.m as f64 * shape.n as f64 / 32.0
            };
            let needs = Needs::of_entry(entry, c, per)?;
            Some((entry.measurement.kernel.as_str(), needs))
        })
        .collect();
    if needs.is_empty() {
        return String::new();
    }
    let is_exact = needs.iter().all(|(_, needs)| needs.is_exact);
    let issue = if is_exact { "issue" } else { "issue, at most" };
    let mut table = Table::new([
        "kernel",
        "needs most of",
        "multiply-adds",
        issue,
        "registers",
        "shared",
        "L1",
        "L2",
        "device memory",
        "so at most",
    ])
    .left(2);
    let is_worth_it = |of: fn(&Needs) -> f64| {
        let part = |(_, needs): &(&str, Needs)| of(needs) / needs.most >= WORTH_A_COLUMN;
        needs.iter().any(part)
    };
    let (l2, dram) = (is_worth_it(|n| n.l2), is_worth_it(|n| n.dram));
    let only_if = |shown: bool, n: f64| if shown { figure(n) } else { String::new() };
    for (kernel, needs) in &needs {
        table.row([
            (*kernel).to_owned(),
            needs.unit.clone(),
            only_if(is_product, needs.arithmetic),
            figure(needs.issue),
            needs.registers.map(figure).unwrap_or_default(),
            figure(needs.shared),
            figure(needs.l1),
            only_if(l2, needs.l2),
            only_if(dram, needs.dram),
            if is_product { ceiling(needs) } else { String::new() },
        ]);
    }
    let title = format!("What binds: clocks of an SM per {}", unit_of_work(shape, counted));
    let mut out = super::heading(&title, &note(shape, counted, is_exact), paint);
    out.push_str(&table.without_empty_columns().render(paint));
    out
}

/// Returns the part of the peak that is left when the busiest unit never rests.
fn ceiling(needs: &Needs) -> String {
    let percent = 100.0 * needs.arithmetic / needs.most;
    match percent {
        p if p < 9.95 => format!("{p:.1}% of peak"),
        p => format!("{p:.0}% of peak"),
    }
}

fn note(shape: Shape, counted: &[(&Entry<'_>, Counters)], is_exact: bool) -> String {
    let is_tensor = counted.iter().any(|(entry, _)| matches!(entry.work, Work::Tensor { .. }));
    let arithmetic = match (shape.k > 0, is_tensor) {
        (true, false) => {
            format!("{:.0} FP32 or {:.0} FP64 multiply-adds of a warp, ", counters::FP32_FMAS, counters::FP64_FMAS)
        }
        (true, true) => {
            let is_e4m3 = |(entry, _): &(&Entry<'_>, Counters)| {
                Arithmetic::of_work(entry.work) == Arithmetic::Tensor(Format::E4m3)
            };
            let e4m3 = if counted.iter().any(is_e4m3) {
                format!(" or {:.0} of e4m3", counters::E4M3_PRODUCTS)
            } else {
                String::new()
            };
            format!(
                "{:.0} such product of bf16 or {:.1} of TF32{e4m3}, ",
                counters::BF16_PRODUCTS,
                counters::TF32_PRODUCTS
            )
        }
        (false, _) => String::new(),
    };
    let mut note = format!("what an SM of an H200 does in a clock: {arithmetic}{:.0} instructions", counters::ISSUES);
    note.push_str(if is_exact {
        " (registers: with the\n  clocks that these wait for the two banks of registers), 1 pass over shared memory or \
         L1, which are one memory.\n  A bound: if no warp ever waited"
    } else {
        ", 1 pass over\n  shared memory or L1, which are one memory. A bound: if no warp ever waited. Issue: of PTX, of \
         which\n  ptxas makes fewer instructions as a rule, and more of wmma; it binds only where nothing else needs \
         as much"
    });
    if counted.iter().any(|(_, c)| c.tensor_operand_wavefronts > 0) {
        note.push_str(".\n  shared: with the factors that wgmma reads, each of which it needs at least once");
    }
    note
}
