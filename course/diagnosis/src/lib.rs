//! Diagnoses a wrong result: how much is wrong, where, and in one sentence, the likely cause.
//!
//! The sentence has two halves, each found on its own. *What* the wrong elements hold (nothing, zeros, a sum that ends
//! too early, another product) is compared on a sample of them with what such a mistake would give; on integers that is
//! exact, so a match is not an accident. *Where* they lie is compared with the tiles.

#![forbid(unsafe_code)]

mod sums;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write as _;

use catalog::{Shape, Work};
use reference::inputs::Real;
use reference::verify::{self, Comparison};
use reference::{Answer, Problem};
use sums::sums;

/// Describes a result whose wrong elements are all 0, which has many causes.
const ZEROS: &str = "they are 0";
/// Describes results that are truncated to integers on reals, and right on small integers.
const WHOLE: &str = ", and right on small integers: a sum, a product or a factor is kept in an int";

/// Specificity of a diagnosis about the cause of a mistake, the least specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clue {
    Nothing,
    /// The wrong elements are 0 in no pattern, which has many causes.
    Zeros,
    /// A place alone, or elements that were never written.
    Place,
    /// Values or a pattern that few mistakes produce.
    Specific,
}

/// The part of a kernel that a cause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Unknown,
    /// Values that are not numbers.
    NotNumbers,
    Zeros,
    /// A sum that begins anew in each round.
    SetAnew,
    /// The rounds of the loop over k.
    Rounds,
    /// A number in an `int`.
    Whole,
    /// A number of too few bits.
    Narrow,
    /// The numbers of a block in rows and columns, or the stores.
    Blocks,
    /// The reads of a matrix.
    Reads(&'static str),
    Stores,
    SumsAndStores,
    /// The reads of a tile in shared memory, and the stores.
    ReadsAndStores(&'static str),
}

/// A product's operands as they are stored.
pub struct Terms {
    pub shape: Shape,
    /// M × K, or K × M.
    pub a: Vec<f64>,
    /// K × N, or N × K.
    pub b: Vec<f64>,
    /// A is stored as K × M; B is stored as N × K.
    pub transposed: [bool; 2],
}

impl Terms {
    pub fn of<T: Real>(problem: &Problem<T>) -> Self {
        let [a, b] = [&problem.a, &problem.b].map(|elements| T::widen(elements));
        Self { shape: problem.shape, a, b, transposed: [false; 2] }
    }
}

/// A wrong result, and the data that its diagnosis is based on.
pub struct WrongResult<'a> {
    pub answer: &'a Answer<'a>,
    /// The elements that the kernel computed, as [`inputs::Real::widen`](reference::inputs::Real::widen) gives them.
    pub got: Vec<f64>,
    pub comparison: &'a Comparison,
    pub work: Work,
    /// Rows and columns that belong to one block: of C, and for a transpose, of the input.
    pub tile: Option<[usize; 2]>,
    /// The operands of a product; `None` for a transpose.
    pub terms: Option<Terms>,
    pub right_on_integers: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The mistake, short enough for a table.
    pub why: String,
    /// The mistake in full, for finding it.
    pub details: String,
    /// The first wrong element, whose it is, and what it should be.
    pub first: String,
    /// The likely cause, where one is known.
    pub likely_cause: Option<String>,
    /// Specificity of `likely_cause`.
    pub clue: Clue,
    /// The subject of `likely_cause`.
    pub subject: Subject,
    /// Map of the wrong tiles; empty for a single tile.
    pub map: String,
}

/// A possible cause of the wrong elements, as text.
struct Cause {
    clue: Clue,
    subject: Subject,
    text: String,
}

impl Cause {
    fn new(subject: Subject, text: impl Into<String>) -> Self {
        Self { clue: Clue::Specific, subject, text: text.into() }
    }
}

/// Row and column.
type Place = [usize; 2];
/// Returns whether an element is as near to a value as to the right one.
type Near<'n> = &'n dyn Fn(Place, f64) -> bool;

/// Returns whether each place of a tile holds the value of the place that a function gives.
type Holds<'h> = &'h dyn Fn(&dyn Fn(usize) -> usize) -> bool;

/// Number of wrong elements that are examined in detail.
const N_SAMPLES: usize = 24;
/// Number of those that are compared with values of other places.
const N_REARRANGED: usize = 1 << 10;
/// Smallest number of wrong elements from which a cause is concluded: fewer could match one by accident.
const MIN_SAMPLES: usize = 8;
const MAX_MAP_CELLS: [usize; 2] = [16, 32];

impl WrongResult<'_> {
    /// Finds out what the wrong elements have in common.
    pub fn diagnose(&self) -> Diagnosis {
        let wrong = Wrong::new(self);
        let n = self.comparison.n_wrong;
        let all = self.got.len();
        let amount =
            if n == all { format!("all {all} elements are wrong") } else { format!("{n} of {all} elements are wrong") };
        let (what, place) = (self.what(&wrong), self.place(&wrong));
        let known = if place.is_some() { Clue::Place } else { Clue::Nothing };
        let (clue, subject) =
            what.as_ref().map_or((known, Subject::Unknown), |what| (what.clue.max(known), what.subject));
        let halves: Vec<String> = what.map(|what| what.text).into_iter().chain(place).collect();
        let likely_cause = (!halves.is_empty()).then(|| halves.join("; "));
        let why = likely_cause.as_ref().map_or(amount.clone(), |sentence| format!("{amount}: {sentence}"));
        let mut details = format!("{amount}{}\n", self.not_finite());
        let first = self.comparison.first.map_or(String::new(), |[row, col]| self.first(row, col));
        if !first.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(details, "{first}");
        }
        if let Some(sentence) = &likely_cause {
            let _ = writeln!(details, "it looks like this: {sentence}");
        }
        let map = self.map(&wrong);
        details.push_str(&map);
        Diagnosis { why, details, first, likely_cause, clue, subject, map }
    }

    fn output(&self) -> &'static str {
        match self.work {
            Work::Transpose => "out",
            _ => "C",
        }
    }

    fn not_finite(&self) -> String {
        let Comparison { n_nan, n_infinite, n_untouched, .. } = *self.comparison;
        let mut parts = Vec::new();
        if n_untouched > 0 {
            parts.push(format!("{n_untouched} were never written"));
        }
        if n_nan > n_untouched {
            parts.push(format!("{} are NaN", n_nan - n_untouched));
        }
        if n_infinite > 0 {
            parts.push(format!("{n_infinite} are infinite"));
        }
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    fn first(&self, row: usize, col: usize) -> String {
        let got = self.got[row * self.answer.cols() + col];
        let is = if got.is_poison() { "was never written".to_owned() } else { format!("is {got}") };
        let want = self.answer.want(row, col);
        let want = match self.answer.bound(row, col) {
            0.0 => want.to_string(),
            // Digits below the bound depend on the CPU.
            bound => format!("{want:.*} within {bound:.1e}", (1.0 - bound.log10()).ceil().max(0.0) as usize),
        };
        let name = self.output();
        let mut text = format!("the first: {name}[{row}][{col}] {is}, and should be {want}");
        if let Some([rows, cols]) = self.output_tile() {
            let (down, across) = (row / rows, col / cols);
            let (x, y) = match self.work {
                Work::Transpose => (down, across),
                _ => (across, down),
            };
            let _ = write!(
                text,
                "\n  it belongs to block ({x}, {y}): row {}, column {} of its {rows} x {cols} tile",
                row % rows,
                col % cols
            );
        }
        text
    }

    /// Returns the tile of the output: a transpose's input tile lies on its side.
    fn output_tile(&self) -> Option<[usize; 2]> {
        self.tile.map(|[rows, cols]| match self.work {
            Work::Transpose => [cols, rows],
            _ => [rows, cols],
        })
    }

    // Values of the wrong elements.

    fn what(&self, wrong: &Wrong) -> Option<Cause> {
        use Subject::{Narrow, NotNumbers, Stores, Unknown, Whole, Zeros};
        let samples = wrong.samples(N_SAMPLES);
        let (rows, cols, name) = (self.answer.rows(), self.answer.cols(), self.output());
        let got = |[row, col]: Place| self.got[row * cols + col];
        let want = |[row, col]: Place| self.answer.want(row, col);
        let all = |holds: &dyn Fn(Place) -> bool| samples.iter().all(|place| holds(*place));
        let cause = |subject, text: &str| Some(Cause::new(subject, text));
        if all(&|place| got(place) == 0.0) {
            return match self.right_on_integers {
                // Products of numbers below 1, rounded towards zero.
                true => cause(Whole, &format!("{ZEROS} on reals{WHOLE}")),
                false => Some(Cause { clue: Clue::Zeros, ..Cause::new(Zeros, ZEROS) }),
            };
        }
        if let Some(unwritten) = self.unwritten() {
            return Some(unwritten);
        }
        let Comparison { n_wrong, n_untouched, n_nan, .. } = *self.comparison;
        if n_untouched == n_wrong {
            return match n_wrong == self.got.len() {
                true => cause(Stores, &format!("nothing was written to {name}")),
                false => Some(Cause { clue: Clue::Place, ..Cause::new(Stores, "they were never written") }),
            };
        }
        if n_nan == n_wrong {
            let from = match self.work {
                Work::Transpose => "a place that nobody wrote",
                _ => "C, or from memory that nobody wrote",
            };
            let text = "they are NaN though the inputs are not: something is read from";
            return cause(NotNumbers, &format!("{text} {from}, or computed as 0 / 0"));
        }
        if samples.len() < MIN_SAMPLES {
            return None;
        }
        let near = |place: Place, value: f64| (got(place) - value).abs() <= self.answer.bound(place[0], place[1]);
        // The value that would lie here if the output was stored column by column.
        let column_major = |[row, col]: Place| want([(row * cols + col) % rows, (row * cols + col) / rows]);
        if (rows, cols) != (1, 1) && all(&|place| near(place, column_major(place))) && self.has_distinct_lines() {
            return cause(Unknown, "rows and columns are swapped: each value is right in the transposed place");
        }
        // Takes many samples: a rule that holds in part of the columns proves nothing. A guard may skip some elements.
        let written: Vec<Place> =
            wrong.samples(N_REARRANGED).into_iter().filter(|place| !got(*place).is_poison()).collect();
        let exchanged = |[row, col]: Place| row < cols && col < rows && near([row, col], want([col, row]));
        if written.len() >= MIN_SAMPLES && written.iter().all(|place| exchanged(*place)) && self.has_distinct_lines() {
            let text = format!("{name}[row][col] holds the value of {name}[col][row]: the store exchanges the two");
            return cause(Unknown, &text);
        }
        let sums = self.terms.as_ref().and_then(|terms| sums(terms, self.tile, &samples, &near));
        let rearranged = || self.rearranged(&written, &near).filter(|_| self.has_distinct_lines());
        if let Some(moved) = sums.or_else(rearranged) {
            return Some(moved);
        }
        for (down, across, text) in [
            (0, 1, "each is the value of its right neighbour"),
            (0, -1, "each is the value of its left neighbour"),
            (1, 0, "each is the value of the row below"),
            (-1, 0, "each is the value of the row above"),
        ] {
            let neighbour = |[row, col]: Place| {
                let row = row.checked_add_signed(down).filter(|row| *row < rows)?;
                let col = col.checked_add_signed(across).filter(|col| *col < cols)?;
                Some(want([row, col]))
            };
            let inside: Vec<_> = samples.iter().filter_map(|place| Some((*place, neighbour(*place)?))).collect();
            let is_near = |(place, value): &(Place, f64)| near(*place, *value);
            if inside.len() >= MIN_SAMPLES && inside.iter().all(is_near) && self.has_distinct_lines() {
                return cause(Unknown, &format!("{text}: an index is off by one"));
            }
        }
        if all(&|place| near(place, 2.0 * want(place))) {
            return cause(Unknown, "each is twice what it should be");
        }
        if !self.right_on_integers || n_nan > 0 {
            return None;
        }
        if all(&|place| got(place).fract() == 0.0) {
            return cause(Whole, &format!("each is a whole number on reals{WHOLE}"));
        }
        let sums = match self.work {
            Work::Tensor { operands, .. } => format!("sums of {} products", operands.name()),
            _ => "sums in the precision of C".to_owned(),
        };
        let text = format!(
            "right on small integers, but on reals up to {:.0} times the error that {sums} can have: it computes in a lower \
             precision",
            self.comparison.max_of_bound.ceil()
        );
        cause(Narrow, &text)
    }

    /// Returns whether no two rows and no two columns should hold the same: otherwise one that holds the values of
    /// another may hold them by chance, as where small integers are multiplied and K is 1.
    fn has_distinct_lines(&self) -> bool {
        // Lines of random values that agree so far are the same.
        const MANY: usize = 64;
        let (rows, cols) = (self.answer.rows(), self.answer.cols());
        let are_distinct = |n: usize, length: usize, want: &dyn Fn(usize, usize) -> f64| {
            // Both zeros are the same.
            let line = |at| (0..length.min(MANY)).map(|i| (want(at, i) + 0.0).to_bits()).collect::<Vec<u64>>();
            (0..n).map(line).collect::<HashSet<_>>().len() == n
        };
        are_distinct(rows, cols, &|row, col| self.answer.want(row, col))
            && are_distinct(cols, rows, &|col, row| self.answer.want(row, col))
    }

    /// Returns what elements that were never written have in common: the places that stores reach follow a rule.
    fn unwritten(&self) -> Option<Cause> {
        let size = [self.answer.rows(), self.answer.cols()];
        let (name, tile) = (self.output(), self.output_tile()?);
        let written = |row: usize, col: usize| !self.got[row * size[1] + col].is_poison();
        let exactly = |rule: &dyn Fn(Place) -> bool| {
            (0..size[0] * size[1]).all(|at| written(at / size[1], at % size[1]) == rule([at / size[1], at % size[1]]))
        };
        let n_tiles = [size[0].div_ceil(tile[0]), size[1].div_ceil(tile[1])];
        let both = |[row, col]: Place| row / tile[0] < n_tiles[1] && col / tile[1] < n_tiles[0];
        if self.comparison.n_untouched == 0 {
            return None;
        }
        if n_tiles[0].min(n_tiles[1]) > 1 && exactly(&both) {
            let text = format!(
                "{name} has {} x {} tiles, and they are written as if it had {} x {}: blockIdx.x and blockIdx.y are \
                 exchanged, or rows and columns in a bound",
                n_tiles[0], n_tiles[1], n_tiles[1], n_tiles[0]
            );
            return Some(Cause::new(Subject::Blocks, text));
        }
        (0..2).find_map(|axis| {
            let (line, all) = (["row", "column"][axis], tile[axis]);
            let steps = || (2..all).filter(|step| 2 * step <= size[axis]);
            let sparse = steps().find(|step| exactly(&|place| place[axis].is_multiple_of(*step)));
            let prefix = steps().find(|step| exactly(&|place| place[axis] % all < *step));
            let text = match (sparse, prefix) {
                (Some(step), _) => format!("of every {step} {line}s of {name} only the first is written"),
                (None, Some(step)) => format!("of every {all} {line}s of {name} only the first {step} are written"),
                (None, None) => return None,
            };
            let lacks = match prefix.filter(|step| sparse.is_none() && !all.is_multiple_of(*step)) {
                Some(_) => {
                    "no thread writes the others, as where the elements of a thread, or of neighbours, lie too close together"
                }
                None => {
                    "the others were never written: no thread takes them, or an index or the length of a row is wrong"
                }
            };
            Some(Cause::new(Subject::Stores, format!("{text}: {lacks}")))
        })
    }

    /// Returns the rule by which wrong elements hold the values of others: an index lacks a part, or two are exchanged.
    fn rearranged(&self, written: &[Place], near: Near<'_>) -> Option<Cause> {
        let (rows, cols) = (self.answer.rows(), self.answer.cols());
        let (name, tile) = (self.output(), self.output_tile()?);
        // What lies outside is made of zeros.
        let follows = |from: &dyn Fn(Place) -> Place| {
            let value = |[row, col]: Place| (row < rows && col < cols).then(|| self.answer.want(row, col));
            let n_inside = written.iter().filter(|place| value(from(**place)).is_some()).count();
            n_inside >= MIN_SAMPLES && written.iter().all(|place| near(*place, value(from(*place)).unwrap_or(0.0)))
        };
        let [tile_height, tile_width] = tile;
        for axis in [0, 1] {
            let (line, all) = (["row", "column"][axis], tile[axis]);
            let (operand, reads) = match self.work {
                Work::Transpose => ("the input", Subject::Unknown),
                _ => [("A", Subject::Reads("A")), ("B", Subject::Reads("B"))][axis],
            };
            let moved = |to: &dyn Fn(usize) -> usize| {
                follows(&|mut place| {
                    place[axis] = to(place[axis]);
                    place
                })
            };
            for &step in STEPS.iter().filter(|step| **step < all) {
                if moved(&|at| at - at % step) {
                    let text = format!(
                        "of every {step} {line}s of {name} all hold what belongs in the first: where it is computed or \
                         stored, an index lacks the number of the {line} among the {step}"
                    );
                    return Some(Cause::new(Subject::SumsAndStores, text));
                }
                if moved(&|at| at - at % all + at % all % step) {
                    let text = format!(
                        "in each tile the first {step} {line}s come again in place of the others: the {line} of {operand} \
                         lacks what is added for them"
                    );
                    return Some(Cause::new(reads, text));
                }
            }
            if moved(&|at| at % all) {
                let (of_block, dim) = (["first row", "first column"][axis], ["y", "x"][axis]);
                let text = match self.work {
                    Work::Transpose => format!("each tile holds the values of the first one along its {line}s"),
                    _ => format!(
                        "each tile has the {line}s of the first one: the index of {operand} lacks the block's {of_block} \
                         (blockIdx.{dim})"
                    ),
                };
                return Some(Cause::new(reads, text));
            }
            // In the whole tile, or in the parts of it that warps have.
            let parts = [1, 2, 4].into_iter().filter(|n| all.is_multiple_of(2 * n)).map(|n| all / n);
            let holds = |part: usize, to: &dyn Fn(usize) -> usize| moved(&|at| at - at % part + to(at % part));
            // Of two that are exchanged, both are wrong.
            let both =
                |bit: usize| [0, bit].iter().all(|side| written.iter().any(|place| (place[axis] % all) & bit == *side));
            if let Some(text) = { parts }.find_map(|part| permuted(line, [all, part], &both, &|to| holds(part, to))) {
                return Some(Cause::new(Subject::SumsAndStores, text));
            }
            let after = |by: usize| moved(&|at| at + by).then_some((by, "after"));
            let before = |by: usize| moved(&|at| at.wrapping_sub(by)).then_some((by, "before"));
            if let Some((by, side)) = (2..all).find_map(|by| after(by).or_else(|| before(by))) {
                let text = format!(
                    "each wrong {line} holds the values of the {line} {by} {side} it: where a thread reads its {line}s, or \
                     where it stores them, an offset is wrong"
                );
                return Some(Cause::new(Subject::ReadsAndStores(["a_tile", "b_tile"][axis]), text));
            }
        }
        let swap = |[row, col]: Place, n: usize| [row - row % n + col % n, col - col % n + row % n];
        // Columns of a thread that lie apart.
        let apart = |[row, col]: Place, n: usize| {
            let stride = (tile_width / n).max(1);
            let (i, j) = (row % n, col % tile_width / stride);
            [row - i + j, col - j * stride + i * stride]
        };
        let crossed = |[row, col]: Place, down: usize, right: usize| match row / down % 2 == col / right % 2 {
            true => [row, col],
            false => [row ^ down, col ^ right],
        };
        let powers = |all: usize| (0..7).map(|n| 1 << n).filter(move |step| 2 * step <= all);
        let mut pairs = powers(tile_height).flat_map(|down| powers(tile_width).map(move |right| (down, right)));
        let corner = |[row, col]: Place| {
            [col / tile_width * tile_height + row % tile_height, row / tile_height * tile_width + col % tile_width]
        };
        let mut steps = STEPS.iter().filter(|n| **n <= tile_height.min(tile_width));
        let text = if let Some(step) = steps.clone().find(|n| follows(&|place| swap(place, **n))) {
            format!(
                "each {step} x {step} square of {name} has its rows and columns exchanged: so are two indices, as in [j][i] \
                 for [i][j]"
            )
        } else if steps.any(|n| follows(&|place| apart(place, *n))) {
            "the rows and columns of each thread are exchanged: two indices, as in [j][i] for [i][j]".into()
        } else if let Some((down, right)) = pairs.find(|(s, t)| follows(&|place| crossed(place, *s, *t))) {
            format!("C[r][c + {right}] and C[r + {down}][c] are exchanged: so are two elements that a thread stores")
        } else if follows(&corner) {
            format!(
                "the tiles of {name} are exchanged, each right in itself: where a tile starts, its row comes from the other \
                 blockIdx than its column needs"
            )
        } else {
            return None;
        };
        Some(Cause::new(Subject::Stores, text))
    }

    // Where they lie.

    fn place(&self, wrong: &Wrong) -> Option<String> {
        let (rows, cols) = (self.answer.rows(), self.answer.cols());
        if wrong.n == rows * cols {
            return None;
        }
        let [tile_rows, tile_cols] = self.output_tile()?;
        let (whole_rows, whole_cols) = (rows / tile_rows * tile_rows, cols / tile_cols * tile_cols);
        // If there is no whole tile, the only one does not count as an edge.
        let edge_row = |row: usize| whole_rows > 0 && row >= whole_rows;
        let edge_col = |col: usize| whole_cols > 0 && col >= whole_cols;
        let name = self.output();
        if wrong.n >= MIN_SAMPLES && wrong.all(|row, col| edge_row(row) || edge_col(col)) {
            let which = match (wrong.all(|row, _| edge_row(row)), wrong.all(|_, col| edge_col(col))) {
                (true, true) => "the corner tile".to_owned(),
                (true, false) => format!("the last tiles down, of {} rows", rows - whole_rows),
                (false, true) => format!("the last tiles across, of {} columns", cols - whole_cols),
                (false, false) => "the tiles at the lower and the right edge".to_owned(),
            };
            return Some(format!("only in {which}: {name} ends inside of them (tiles are {tile_rows} x {tile_cols})"));
        }
        if let Some(text) = wrong.last_rows_or_columns(name) {
            return Some(text);
        }
        let tiles = wrong.cells(tile_rows, tile_cols);
        // Two rows that are wrong make no pattern unless a right one lies between; one makes none.
        let several = |n: usize, is_wrong: &dyn Fn(usize) -> bool| (0..n).filter(|at| is_wrong(*at)).count() > 1;
        let down = several(tiles.len(), &|at| tiles[at].iter().any(|cell| cell.n_wrong > 0));
        let n_across = tiles.first().map_or(0, Vec::len);
        let across = several(n_across, &|at| tiles.iter().any(|line| line[at].n_wrong > 0));
        type Number = fn(usize, usize) -> usize;
        let rules: [(&str, bool, Number); 3] = [
            ("every second row of tiles", down, |down, _| down),
            ("every second column of tiles", across, |_, across| across),
            ("every second tile, as on a chess board", down && across, |down, across| down + across),
        ];
        for (text, _, number) in rules.into_iter().filter(|(_, has_several, _)| *has_several) {
            let exactly = |odd: usize| {
                let mut lines = tiles.iter().enumerate();
                lines.all(|(down, line)| {
                    let mut cells = line.iter().enumerate();
                    cells.all(|(across, cell)| (cell.n_wrong > 0) == (number(down, across) % 2 == odd))
                })
            };
            if exactly(0) || exactly(1) {
                return Some(format!("only in {text}"));
            }
        }
        if let Some(text) = wrong.residues(name, [tile_rows, tile_cols]) {
            return Some(text);
        }
        let n_tiles: usize = tiles.iter().map(Vec::len).sum();
        let n_wrong = tiles.iter().flatten().filter(|cell| cell.n_wrong > 0).count();
        (n_wrong < n_tiles).then(|| format!("in {n_wrong} of {n_tiles} tiles"))
    }

    fn map(&self, wrong: &Wrong) -> String {
        let (rows, cols) = (self.answer.rows(), self.answer.cols());
        let [tile_rows, tile_cols] = self.output_tile().unwrap_or([1, 1]);
        let group = |n: usize, tile: usize, max_cells: usize| tile * n.div_ceil(tile).div_ceil(max_cells);
        let (tile_height, tile_width) =
            (group(rows, tile_rows, MAX_MAP_CELLS[0]), group(cols, tile_cols, MAX_MAP_CELLS[1]));
        let cells = wrong.cells(tile_height, tile_width);
        if cells.len() == 1 && cells[0].len() == 1 {
            return String::new();
        }
        let mut out = format!(
            "  each character is {tile_height} x {tile_width} elements of {}: . right, o partly wrong, # all wrong\n",
            self.output()
        );
        for line in cells {
            let line: String = line.iter().map(Cell::sign).collect();
            let _ = writeln!(out, "    {line}");
        }
        out
    }
}

/// Returns how rows or columns of a tile are permuted, each `line` in one of the places of a part of the tile: `holds`
/// tests where the values in a place come from, `both` whether places with and without a bit are wrong.
fn permuted(line: &str, [tile, all]: [usize; 2], both: &dyn Fn(usize) -> bool, holds: Holds<'_>) -> Option<String> {
    let steps = || [1].into_iter().chain(STEPS).filter(|step| 2 * step <= all && all.is_multiple_of(2 * step));
    if let Some(step) = steps().find(|step| holds(&|at| at ^ step) && both(*step)) {
        return Some(format!(
            "the {line}s are exchanged {step} by {step}: each holds what belongs {step} before or after it"
        ));
    }
    if let Some(bits) = (1..all)
        .filter(|_| all.is_power_of_two())
        .find(|bits| holds(&|at| at ^ bits) && both(bits & bits.wrapping_neg()))
    {
        return Some(format!(
            "the {line}s are exchanged in pairs: {line} c of a tile holds what belongs in c ^ {bits}"
        ));
    }
    // What is side by side for one is spread for the other.
    let pairs = steps().flat_map(|group| STEPS.iter().map(move |n| (group, *n)));
    let (group, n) =
        { pairs }.filter(|(group, n)| all.is_multiple_of(group * n) && group * n < all).find(|(group, n)| {
            let to = |at: usize| at % n * (all / group / n) + at / n;
            holds(&|at| to(at / group) * group + at % group)
        })?;
    let apart = all / group / n;
    let together = if group == 1 { String::new() } else { format!(", {group} {line}s together") };
    let part = if all == tile { "each tile".to_owned() } else { format!("every {all} {line}s") };
    Some(format!(
        "in {part}{together}, place c of {} holds what belongs in place c % {n} * {apart} + c / {n}, as 1 holds {apart}: \
         a thread stores as one {line} what it computed or loaded as another",
        all / group
    ))
}

/// Rows or columns of a thread, or of one load of a block.
const STEPS: [usize; 6] = [2, 4, 8, 16, 32, 64];

struct Wrong {
    rows: usize,
    cols: usize,
    is: Vec<bool>,
    n: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    n: usize,
    n_wrong: usize,
}

impl Cell {
    fn sign(&self) -> char {
        match self.n_wrong {
            0 => '.',
            n if n == self.n => '#',
            _ => 'o',
        }
    }
}

impl Wrong {
    fn new(result: &WrongResult<'_>) -> Self {
        let (rows, cols) = (result.answer.rows(), result.answer.cols());
        let is: Vec<bool> = (0..rows * cols)
            .map(|index| {
                let (row, col) = (index / cols, index % cols);
                let error = (result.got[index] - result.answer.want(row, col)).abs();
                !verify::is_inside(error, result.answer.bound(row, col))
            })
            .collect();
        let n = is.iter().filter(|wrong| **wrong).count();
        Self { rows, cols, is, n }
    }

    fn places(&self) -> impl Iterator<Item = [usize; 2]> {
        let wrong = self.is.iter().enumerate().filter(|(_, wrong)| **wrong);
        wrong.map(|(index, _)| [index / self.cols, index % self.cols])
    }

    /// Returns some wrong places, spread over all of them and over their columns, which equal steps could miss.
    fn samples(&self, max_samples: usize) -> Vec<Place> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let n = max_samples.min(self.n);
        let mut chosen: Vec<usize> = match n == self.n {
            true => (0..n).collect(),
            false => (1..=n).map(|i| ((i as f64 * GOLDEN).fract() * self.n as f64) as usize).collect(),
        };
        chosen.sort_unstable();
        chosen.dedup();
        let mut chosen = chosen.into_iter().peekable();
        let places = self.places().enumerate();
        places.filter(|(at, _)| chosen.next_if_eq(at).is_some()).map(|(_, place)| place).collect()
    }

    fn all(&self, holds: impl Fn(usize, usize) -> bool) -> bool {
        self.places().all(|[row, col]| holds(row, col))
    }

    fn cells(&self, tile_height: usize, tile_width: usize) -> Vec<Vec<Cell>> {
        let mut cells = vec![vec![Cell::default(); self.cols.div_ceil(tile_width)]; self.rows.div_ceil(tile_height)];
        for (index, wrong) in self.is.iter().enumerate() {
            let cell = &mut cells[index / self.cols / tile_height][index % self.cols / tile_width];
            cell.n += 1;
            cell.n_wrong += usize::from(*wrong);
        }
        cells
    }

    /// Returns all rows, or all columns, from some place on.
    fn last_rows_or_columns(&self, name: &str) -> Option<String> {
        let row = self.places().map(|[row, _]| row).min()?;
        if row > 0 && self.n == (self.rows - row) * self.cols {
            return Some(format!("only in the rows from {row} on: {name}[{row}..]"));
        }
        let col = self.places().map(|[_, col]| col).min()?;
        (col > 0 && self.n == self.rows * (self.cols - col))
            .then(|| format!("only in the columns from {col} on: {name}[..][{col}..]"))
    }

    /// Returns rows or columns whose number leaves certain remainders.
    fn residues(&self, name: &str, tile: [usize; 2]) -> Option<String> {
        for (axis, what, size) in [(0, "row", self.rows), (1, "column", self.cols)] {
            for modulus in [2, 4, 8, 16, 32, tile[axis]].into_iter().filter(|modulus| 2 * modulus <= size) {
                let mut remainders = vec![false; modulus];
                for place in self.places() {
                    remainders[place[axis] % modulus] = true;
                }
                let n_remainders = remainders.iter().filter(|remains| **remains).count();
                // Most lines with such a remainder are wrong, and they are at most half of all lines.
                let n_such: usize =
                    (0..size).filter(|i| remainders[i % modulus]).count() * (self.rows * self.cols / size);
                if 2 * n_remainders <= modulus && self.n * 10 >= n_such * 9 {
                    let all: Vec<usize> = (0..modulus).filter(|i| remainders[*i]).collect();
                    let list = match all[..] {
                        [first, .., last] if last - first + 1 == all.len() && all.len() > 4 => {
                            format!("{first} to {last}")
                        }
                        _ => all.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
                    };
                    return Some(format!("only where {what} % {modulus} is {list} in {name}"));
                }
            }
        }
        None
    }
}
