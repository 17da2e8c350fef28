//! Undefined bits of the results of arithmetic.
//!
//! For operations that only move bits, the undefined bits of the result are computed by running the operation on the
//! undefined-bit masks of the sources. Operations on single bits and comparisons are run on several values that the
//! undefined bits could have: where the results agree, the result is defined.

#[cfg(test)]
mod tests;

use crate::{exec::ZERO_LINE, lane_mask::LaneMask};
use arithmetic::lanes::{AluArgs, AluFn, Class, Lanes, Line};
use program::{AluShape, Flow, Ordering};

/// A register for each source.
type Values = [[u64; 32]; 4];

pub(super) struct Sources {
    pub(super) values: Values,
    pub(super) undefined: Values,
    /// Sources that are the same register have the same number.
    pub(super) same: [usize; 4],
}

/// The undefined bits of a result, and the lanes in which they have been more than moved.
pub(super) struct AluResult {
    pub(super) undefined: [u64; 32],
    pub(super) computed: LaneMask,
    /// By source: the lanes in which it has a part in what is undefined.
    pub(super) from: [LaneMask; 4],
}

/// Registers of its own for running one operation.
struct Bench {
    regs: [Line; 10],
    preds: [u32; 8],
    run: AluFn,
    args: AluArgs,
    shape: AluShape,
}

impl Bench {
    fn new(run: AluFn, args: &AluArgs, shape: AluShape) -> Self {
        let mut own = AluArgs { dst: 0, src: args.src };
        for (i, &class) in shape.srcs.iter().enumerate().take(4) {
            own.src[i] = match class {
                Class::Pred => 2 + i as i32,
                Class::Bits32 | Class::Bits64 => 2 + 2 * i as i32,
            };
        }
        Self { regs: [ZERO_LINE; 10], preds: [0; 8], run, args: own, shape }
    }

    /// Returns the operation's result for other sources.
    fn eval(&mut self, sources: &Values, active: LaneMask) -> [u64; 32] {
        for (i, &class) in self.shape.srcs.iter().enumerate().take(4) {
            match class {
                Class::Pred => {
                    self.preds[2 + i] = (0..32).fold(0, |mask, lane| mask | ((sources[i][lane] & 1) as u32) << lane);
                }
                Class::Bits32 => {
                    for (to, from) in self.regs[2 + 2 * i].0.iter_mut().zip(&sources[i]) {
                        *to = *from as u32;
                    }
                }
                Class::Bits64 => {
                    for (lane, value) in sources[i].iter().enumerate() {
                        let at = 2 + 2 * i + lane / 16;
                        self.regs[at].0[lane % 16 * 2] = *value as u32;
                        self.regs[at].0[lane % 16 * 2 + 1] = (*value >> 32) as u32;
                    }
                }
            }
        }
        let mut lanes =
            Lanes { regs: self.regs.as_mut_ptr(), consts: std::ptr::null(), preds: self.preds.as_mut_ptr() };
        // SAFETY: the operands are those of the bench, all in range and disjoint: sources from 2, the result at 0.
        // Decode chose a function that this CPU can run. `src[3]` beyond its sources is not an operand.
        unsafe { (self.run)(&mut lanes, &self.args, active.bits()) };
        std::array::from_fn(|lane| match self.shape.dst {
            Class::Pred => u64::from(self.preds[0] >> lane & 1),
            Class::Bits32 => u64::from(self.regs[0].0[lane]),
            Class::Bits64 => {
                let words = &self.regs[lane / 16].0;
                u64::from(words[lane % 16 * 2]) | u64::from(words[lane % 16 * 2 + 1]) << 32
            }
        })
    }
}

pub(super) fn all_bits(class: Class) -> u64 {
    match class {
        Class::Pred => 1,
        Class::Bits32 => u64::from(u32::MAX),
        Class::Bits64 => u64::MAX,
    }
}

/// Returns the undefined bits of an operation's result for the `active` lanes.
pub(super) fn alu(run: AluFn, args: &AluArgs, shape: AluShape, sources: &Sources, active: LaneMask) -> AluResult {
    let n = shape.srcs.len().min(4);
    let mut bench = Bench::new(run, args, shape);
    let mut result = AluResult { undefined: [0; 32], computed: active, from: [LaneMask::EMPTY; 4] };
    for (from, undefined) in result.from.iter_mut().zip(&sources.undefined) {
        *from = active.filter(|lane| undefined[lane] != 0);
    }
    let any = |lane: usize| sources.undefined[..n].iter().fold(0, |all, s| all | s[lane]);
    let all = all_bits(shape.dst);
    match shape.flow {
        Flow::Mixed => {
            for lane in active.iter().filter(|&lane| any(lane) != 0) {
                result.undefined[lane] = all;
            }
        }
        Flow::Moved { data, shifts } => {
            let is_data = |i: usize| data >> i & 1 == 1;
            let mut inputs = sources.values;
            for i in (0..n).filter(|&i| is_data(i)) {
                inputs[i] = [0; 32];
            }
            // One source after the other: each bit of the result is one bit of one source.
            let sure = result.from;
            for i in (0..n).filter(|&i| is_data(i) && !sure[i].is_empty()) {
                inputs[i] = sources.undefined[i];
                let moved = bench.eval(&inputs, active);
                inputs[i] = [0; 32];
                for lane in active.iter() {
                    result.undefined[lane] |= moved[lane];
                    if moved[lane] == 0 {
                        result.from[i] &= !LaneMask::of(lane);
                    }
                }
            }
            result.computed = LaneMask::EMPTY;
            for lane in active.iter() {
                let steers = || (0..n).filter(|&i| !is_data(i));
                if steers().any(|i| sources.undefined[i][lane] != 0) {
                    result.undefined[lane] = all;
                    result.computed |= LaneMask::of(lane);
                    for i in (0..n).filter(|&i| sources.undefined[i][lane] != 0) {
                        result.from[i] |= LaneMask::of(lane);
                    }
                } else if shifts && steers().any(|i| !sources.values[i][lane].is_multiple_of(8)) {
                    result.computed |= LaneMask::of(lane);
                }
            }
        }
        Flow::Bitwise => bitwise(&mut bench, sources, active, &mut result),
        Flow::Upward => {
            for lane in active.iter() {
                let of = |i: usize| match shape.srcs[i] {
                    // A carry into the lowest bit.
                    Class::Pred if sources.undefined[i][lane] != 0 => 0,
                    _ => sources.undefined[i][lane].trailing_zeros(),
                };
                let lowest = (0..n).map(of).min().unwrap_or(64);
                result.undefined[lane] = u64::MAX.checked_shl(lowest).unwrap_or(0) & all;
            }
        }
        Flow::Halves => {
            for lane in active.iter() {
                for half in [0xFFFF, 0xFFFF_0000] {
                    result.undefined[lane] |= if any(lane) & half != 0 { half } else { 0 };
                }
            }
        }
        Flow::Compared(ordering) => compared(&mut bench, sources, active, ordering, &mut result),
    }
    for lane in 0..32 {
        result.undefined[lane] &= if active.contains(lane) { all } else { 0 };
    }
    result
}

/// Tries all ways in which each source's undefined bits are all 0 or all 1: enough where bits do not mix.
fn bitwise(bench: &mut Bench, sources: &Sources, active: LaneMask, result: &mut AluResult) {
    let n = bench.shape.srcs.len().min(4);
    // Registers that have undefined bits, each once.
    let mut unsure: Vec<usize> = (0..n)
        .filter(|&i| active.iter().any(|lane| sources.undefined[i][lane] != 0))
        .map(|i| sources.same[i])
        .collect();
    unsure.sort_unstable();
    unsure.dedup();
    let outcome = |bench: &mut Bench, ways: usize| {
        let mut inputs = sources.values;
        for (i, input) in inputs.iter_mut().enumerate().take(n) {
            let ones = unsure.iter().position(|&known| known == sources.same[i]).is_some_and(|at| ways >> at & 1 == 1);
            for (value, undefined) in input.iter_mut().zip(&sources.undefined[i]) {
                *value = if ones { *value | undefined } else { *value & !undefined };
            }
        }
        bench.eval(&inputs, active)
    };
    let zeros = outcome(bench, 0);
    let mut ones = zeros;
    for ways in 1..1usize << unsure.len() {
        ones = outcome(bench, ways);
        for lane in active.iter() {
            result.undefined[lane] |= ones[lane] ^ zeros[lane];
        }
    }
    result.computed = LaneMask::EMPTY;
    for lane in active.iter() {
        // Bits that one register alone leaves open, and that are what that register has there.
        let (mut once, mut twice) = (0, 0);
        for &i in &unsure {
            twice |= once & sources.undefined[i][lane];
            once |= sources.undefined[i][lane];
        }
        let passed = once & !twice & ones[lane] & !zeros[lane];
        for (i, &class) in bench.shape.srcs.iter().enumerate().take(4) {
            let part = class == Class::Pred || sources.undefined[i][lane] & result.undefined[lane] != 0;
            if !part {
                result.from[i] &= !LaneMask::of(lane);
            }
        }
        if result.undefined[lane] & !passed != 0 {
            result.computed |= LaneMask::of(lane);
        }
    }
}

/// Tries values that the first two sources could have and that compare differently.
fn compared(bench: &mut Bench, sources: &Sources, active: LaneMask, ordering: Ordering, result: &mut AluResult) {
    let n = bench.shape.srcs.len().min(4);
    let undefined = |i: usize, lane: usize| sources.undefined[i][lane];
    // Lowest and highest value of an integer.
    let range = |i: usize, lane: usize| {
        let (value, open) = (sources.values[i][lane], undefined(i, lane));
        let sign = match ordering {
            Ordering::Signed(bits) => open & 1 << (bits - 1),
            _ => 0,
        };
        ((value & !open) | sign, (value | open) & !sign)
    };
    let pair = |sample: usize, lane: usize| -> [u64; 2] {
        let given = [sources.values[0][lane], sources.values[1][lane]];
        if undefined(0, lane) | undefined(1, lane) == 0 {
            return given;
        }
        if let Ordering::Float(bits) = ordering {
            let (one, nan) = match bits {
                16 => (0x3C00_3C00, 0x7FFF_7FFF),
                32 => (0x3F80_0000, 0x7FFF_FFFF),
                _ => (0x3FF0_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF),
            };
            return [[0, one], [one, 0], [0, 0], [nan, nan]][sample];
        }
        let ((low_a, high_a), (low_b, high_b)) = (range(0, lane), range(1, lane));
        let different = (given[0] ^ given[1]) & !undefined(0, lane) & !undefined(1, lane);
        match sample {
            0 => [low_a, high_b],
            1 => [high_a, low_b],
            _ if different != 0 => [low_a, high_b],
            // The same value: where both are open, 0.
            _ => {
                let known = (given[0] & !undefined(0, lane)) | (given[1] & !undefined(1, lane));
                [known, known]
            }
        }
    };
    let mut first = None;
    for sample in 0..4 {
        // Without further sources, both are the same.
        for &combined in if n > 2 { &[false, true][..] } else { &[false] } {
            let mut inputs = sources.values;
            for lane in active.iter() {
                let [a, b] = pair(sample, lane);
                (inputs[0][lane], inputs[1][lane]) = (a, b);
                for (i, input) in inputs.iter_mut().enumerate().take(n).skip(2) {
                    if undefined(i, lane) != 0 {
                        input[lane] = u64::from(combined);
                    }
                }
            }
            let outcome = bench.eval(&inputs, active);
            let first = first.get_or_insert(outcome);
            for lane in active.iter() {
                result.undefined[lane] |= outcome[lane] ^ first[lane];
            }
        }
    }
}
