//! Diagnoses a wrong result: how much is wrong, where, and in one sentence, what it looks like.
//!
//! The sentence has two halves, each found on its own. *What* the wrong elements hold (nothing, zeros, a sum that ends
//! too early, another product) is compared on a sample of them with what such a mistake would give; on integers that is
//! exact, so a match is no accident. *Where* they lie is compared with the tiles.

use std::collections::HashSet;
use std::fmt::Write as _;

use catalog::{Shape, Work};

use reference::Answer;
use reference::inputs::Real as _;
use reference::verify::{self, Comparison};

/// Said of a result that is 0 where it is wrong, which has many causes.
const ZEROS: &str = "they are 0";
/// Said of whole numbers on reals, after which kernels are right on integers.
const WHOLE: &str = ", and right on small integers: a sum, a product or a factor is kept in an int";

/// Information that a diagnosis has on the cause of a mistake, the least first.
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
    /// An output of zeros.
    Zeros,
    /// A sum that begins anew in each round.
    SetAnew,
    /// The rounds of the loop over k.
    Rounds,
    /// A number in an `int`.
    Whole,
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
    pub turned: [bool; 2],
}

/// Everything there is to look at.
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
    pub looks: Option<String>,
    /// Information in `looks`.
    pub clue: Clue,
    /// The subject of `looks`.
    pub subject: Subject,
    /// Map of the wrong tiles; empty for a single tile.
    pub map: String,
}

/// Rule by which the wrong elements came about, in words.
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
/// Largest map, in cells.
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
        let looks = (!halves.is_empty()).then(|| halves.join("; "));
        let why = looks.as_ref().map_or(amount.clone(), |sentence| format!("{amount}: {sentence}"));
        let mut details = format!("{amount}{}\n", self.not_finite());
        let first = self.comparison.first.map_or(String::new(), |[row, col]| self.first(row, col));
        if !first.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(details, "{first}");
        }
        if let Some(sentence) = &looks {
            let _ = writeln!(details, "it looks like this: {sentence}");
        }
        let map = self.map(&wrong);
        details.push_str(&map);
        Diagnosis { why, details, first, looks, clue, subject, map }
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
        let bound = match self.answer.bound(row, col) {
            0.0 => String::new(),
            bound => format!(" within {bound:.1e}"),
        };
        let name = self.output();
        let mut text = format!("the first: {name}[{row}][{col}] {is}, and should be {want}{bound}");
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
        use Subject::{NotNumbers, Stores, Unknown, Whole, Zeros};
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
        let turned = |[row, col]: Place| want([(row * cols + col) % rows, (row * cols + col) / rows]);
        if (rows, cols) != (1, 1) && all(&|place| near(place, turned(place))) && self.has_distinct_lines() {
            return cause(Unknown, "rows and columns are swapped: each value is right in the transposed place");
        }
        // Of many: a rule that holds for a part of the columns is none. A guard may leave some out.
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
        cause(Unknown, &text)
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
                    "no thread writes the others, as where what neighbouring threads write lies too close together"
                }
                None => {
                    "the others were never written: no thread takes them, or the index lacks what is added for them"
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
        let [high, wide] = tile;
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
            if let Some(text) = { parts }.find_map(|part| permuted(line, [all, part], &|to| holds(part, to))) {
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
            let stride = (wide / n).max(1);
            let (i, j) = (row % n, col % wide / stride);
            [row - i + j, col - j * stride + i * stride]
        };
        let crossed = |[row, col]: Place, down: usize, right: usize| match row / down % 2 == col / right % 2 {
            true => [row, col],
            false => [row ^ down, col ^ right],
        };
        let powers = |all: usize| (0..7).map(|n| 1 << n).filter(move |step| 2 * step <= all);
        let mut pairs = powers(high).flat_map(|down| powers(wide).map(move |right| (down, right)));
        let corner = |[row, col]: Place| [col / wide * high + row % high, row / high * wide + col % wide];
        let mut steps = STEPS.iter().filter(|n| **n <= high.min(wide));
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
        // Where there is no whole tile, the only one is no edge.
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
        let group = |n: usize, tile: usize, most: usize| tile * n.div_ceil(tile).div_ceil(most);
        let (high, wide) = (group(rows, tile_rows, MAX_MAP_CELLS[0]), group(cols, tile_cols, MAX_MAP_CELLS[1]));
        let cells = wrong.cells(high, wide);
        if cells.len() == 1 && cells[0].len() == 1 {
            return String::new();
        }
        let mut out = format!(
            "  each character is {high} x {wide} elements of {}: . right, o partly wrong, # all wrong\n",
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
/// tests where the values in a place come from.
fn permuted(line: &str, [tile, all]: [usize; 2], holds: Holds<'_>) -> Option<String> {
    let steps = || [1].into_iter().chain(STEPS).filter(|step| 2 * step <= all && all.is_multiple_of(2 * step));
    if let Some(step) = steps().find(|step| holds(&|at| at ^ step)) {
        return Some(format!(
            "the {line}s are exchanged {step} by {step}: each holds what belongs {step} before or after it"
        ));
    }
    if let Some(bits) = (1..all).filter(|_| all.is_power_of_two()).find(|bits| holds(&|at| at ^ bits)) {
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

/// Sums that a mistake would make.
fn sums(terms: &Terms, tile: Option<[usize; 2]>, samples: &[Place], near: Near<'_>) -> Option<Cause> {
    use Subject::{Reads, Rounds, SetAnew, Unknown};
    let Terms { shape: Shape { m, n, k }, ref a, ref b, turned } = *terms;
    let at = |x: &[f64], index: usize| x.get(index).copied().unwrap_or(0.0);
    let a_place = |turned: bool, row: usize, i: usize| if turned { i * m + row } else { row * k + i };
    let b_place = |turned: bool, i: usize, col: usize| if turned { col * k + i } else { i * n + col };
    // A term of the element in a row and a column.
    let term = |x: &[f64], y: &[f64], turned: [bool; 2], [row, col]: Place, i: usize| {
        at(x, a_place(turned[0], row, i)) * at(y, b_place(turned[1], i, col))
    };

    // Sums that end too early, begin too late, or count an end twice: the same number of terms everywhere.
    let mut ends: Vec<usize> = (1..k).collect();
    let mut begins = ends.clone();
    let mut twice = ends.clone();
    for place in samples {
        let mut sum = vec![0.0; k + 1];
        for i in 0..k {
            sum[i + 1] = sum[i] + term(a, b, turned, *place, i);
        }
        let total = sum[k];
        ends.retain(|end| near(*place, sum[*end]));
        begins.retain(|begin| near(*place, total - sum[*begin]));
        twice.retain(|begin| near(*place, total + (total - sum[*begin])));
    }
    // The last that fits: as few terms as possible are missing.
    if let Some(end) = ends.last() {
        let bound = match (m == *end, n == *end) {
            (true, false) => format!(", as if k ended at M, which is {m} here"),
            (false, true) => format!(", as if k ended at N, which is {n} here"),
            _ => String::new(),
        };
        let text = format!("{} missing (k >= {end}){bound}", terms_of("last", k - end, k));
        return Some(Cause::new(Rounds, text));
    }
    if let Some(&begin) = begins.first() {
        let is_last_round = DEPTHS.iter().any(|depth| depth < &k && (k - 1) / depth * depth == begin);
        let (subject, cause) = match (is_last_round, k - begin == 1 && k > 2) {
            (true, true) => (SetAnew, ", as if each round of the loop over k, or each term, replaced the sum"),
            (true, false) => (SetAnew, ", as if the sum started anew in each round of the loop over k"),
            (false, true) => (SetAnew, ", as if each term replaced the sum: `=` in place of `+=`"),
            (false, false) => (Rounds, ""),
        };
        let text = format!("{} missing (k < {begin}){cause}", terms_of("first", begin, k));
        return Some(Cause::new(subject, text));
    }
    if let Some(begin) = twice.last() {
        let text = format!("{} counted twice (k >= {begin})", terms_of("last", k - begin, k));
        return Some(Cause::new(Rounds, text));
    }

    let fits = |n_terms: usize, term: &dyn Fn(Place, usize) -> f64| {
        samples.iter().all(|place| near(*place, (0..n_terms).map(|i| term(*place, i)).sum()))
    };
    let right = |place: Place, i: usize| term(a, b, turned, place, i);
    if let Some((lost, twice)) = replaced_term(k, samples, &right, near) {
        let text = format!("of {k} terms of each sum one is missing (k = {lost}), and k = {twice} is counted twice");
        return Some(Cause::new(Rounds, text));
    }
    // The same terms of each round.
    for depth in DEPTHS.into_iter().filter(|depth| 2 * depth <= k) {
        let parts = (1..depth).flat_map(|n| [(n, "last", 0..depth - n), (n, "first", n..depth)]);
        let is_part = |kept: &std::ops::Range<usize>| {
            fits(k, &|place, i| if kept.contains(&(i % depth)) { right(place, i) } else { 0.0 })
        };
        if let Some((n, side, _)) = parts.into_iter().find(|(.., kept)| is_part(kept)) {
            let which = if n == 1 { "one is".to_owned() } else { format!("{n} are") };
            let text = format!("of every {depth} terms of each sum the {side} {which} missing");
            return Some(Cause::new(Rounds, text));
        }
    }
    let [turned_a, turned_b] = turned;
    type Product<'p> = (&'static str, &'p [f64], &'p [f64], [bool; 2]);
    let products: [Product<'_>; 6] = [
        ("A * A in place of A * B: A is read where B belongs", a, a, turned),
        ("B * B in place of A * B: B is read where A belongs", b, b, turned),
        ("B * A in place of A * B: the operands are swapped", b, a, turned),
        ("B is read as if its rows were columns", a, b, [turned_a, !turned_b]),
        ("A is read as if its rows were columns", a, b, [!turned_a, turned_b]),
        ("A and B are read as if their rows were columns", a, b, [!turned_a, !turned_b]),
    ];
    if let Some((text, ..)) =
        products.iter().find(|(_, x, y, turned)| fits(k, &|place, i| term(x, y, *turned, place, i)))
    {
        return Some(Cause::new(Unknown, *text));
    }

    // Rows as long as another dimension, with zeros past their end or without.
    let others = |is_a: bool| [("M", m, is_a), ("N", n, is_a), ("K", k, is_a)];
    let pitch = others(true).into_iter().chain(others(false)).find(|&(_, length, is_a)| {
        let own = if is_a { [k, m][usize::from(turned_a)] } else { [n, k][usize::from(turned_b)] };
        let read = |[row, col]: Place, i: usize, has_zeros: bool| {
            let (x, [line, rest], is_turned) = if is_a { (a, [row, i], turned_a) } else { (b, [i, col], turned_b) };
            let [line, rest] = if is_turned { [rest, line] } else { [line, rest] };
            if has_zeros && rest >= length { 0.0 } else { at(x, line * length + rest) }
        };
        let right = |[row, col]: Place, i: usize| match is_a {
            true => at(b, b_place(turned_b, i, col)),
            false => at(a, a_place(turned_a, row, i)),
        };
        own != length && [true, false].iter().any(|zeros| fits(k, &|place, i| read(place, i, *zeros) * right(place, i)))
    });
    if let Some((name, length, is_a)) = pitch {
        let operand = if is_a { "A" } else { "B" };
        let text = format!("{operand} is read as if each of its rows had {name} elements, which is {length} here");
        return Some(Cause::new(Reads(operand), text));
    }

    // Elements of other places, where the loop over k takes steps of `depth`; zeros past the edges.
    let a_at = |[row, i]: Place| if row < m && i < k { at(a, a_place(turned_a, row, i)) } else { 0.0 };
    let b_at = |[i, col]: Place| if i < k && col < n { at(b, b_place(turned_b, i, col)) } else { 0.0 };
    let pairs = (0..4).flat_map(|x| (x + 1..4).map(move |y| (x, y)));
    let exchanged = { pairs }.find(|&(x, y)| {
        let other = |i: usize| if i % 4 == x { i - x + y } else { i - y + x };
        let from = |i: usize| if [x, y].contains(&(i % 4)) { other(i) } else { i };
        fits(k.next_multiple_of(4), &|[row, col], i| a_at([row, from(i)]) * b_at([i, col]))
    });
    if let Some((x, y)) = exchanged {
        let text = format!("of every 4 steps of k, {x} and {y} are exchanged in one operand and not in the other");
        return Some(Cause::new(Unknown, text));
    }
    /// Places in A and B of a term.
    type Places<'p> = &'p dyn Fn(Place, usize) -> [Place; 2];
    let [high, wide] = tile.unwrap_or([1, 1]);
    let exchanged = "the two coordinates are exchanged (a tensor copy names the innermost first)";
    DEPTHS.iter().filter(|depth| **depth < k).find_map(|&depth| {
        let start = |i: usize| i / depth * depth;
        let rounds = if k <= 2 * depth { "the second round uses" } else { "each round uses" };
        // Boxes of B may be as wide as they are deep.
        let box_of = |wide: usize| {
            move |[row, col]: Place, i: usize| [[row, i], [col - col % wide + i % depth, start(i) + col % wide]]
        };
        let before = |i: usize| if i < depth { i } else { i - depth };
        let other: [(&str, String, Places<'_>); 10] = [
            (
                "A",
                format!("each round uses the {depth} columns of A and rows of B of the round before"),
                &|[row, col], i| [[row, before(i)], [before(i), col]],
            ),
            (
                "A",
                format!("{rounds} the columns of A below {depth} again: the index of A does not move on as it should"),
                &|[row, col], i| [[row, i % depth], [i, col]],
            ),
            (
                "B",
                format!("{rounds} the rows of B below {depth} again: the index of B does not move on as it should"),
                &|[row, col], i| [[row, i], [i % depth, col]],
            ),
            ("A", "k0 is added to the row of A in place of its column".into(), &|[row, col], i| {
                [[row + start(i), i % depth], [i, col]]
            }),
            ("B", "k0 is added to the column of B in place of its row".into(), &|[row, col], i| {
                [[row, i], [i % depth, col + start(i)]]
            }),
            (
                "A",
                format!("each {depth} x {depth} tile of A is read with row and column exchanged"),
                &|[row, col], i| [[start(row) + i % depth, start(i) + row % depth], [i, col]],
            ),
            (
                "B",
                format!("each {depth} x {depth} tile of B is read with row and column exchanged"),
                &|[row, col], i| [[row, i], [start(i) + col % depth, start(col) + i % depth]],
            ),
            ("A", format!("each tile of A starts in row k0, column block_row: {exchanged}"), &|[row, col], i| {
                [[start(i) + row % high, row - row % high + i % depth], [i, col]]
            }),
            ("B", format!("each tile of B starts in row block_col, column k0: {exchanged}"), &box_of(wide)),
            ("B", format!("each box of B starts in the row of its column, in column k0: {exchanged}"), &box_of(depth)),
        ];
        // The last round may be longer than k: its zeros count as well.
        let n_terms = k.div_ceil(depth) * depth;
        let product = |places: Places<'_>, place, i| {
            let [of_a, of_b] = places(place, i);
            a_at(of_a) * b_at(of_b)
        };
        let fitting = other.into_iter().find(|(.., places)| fits(n_terms, &|place, i| product(places, place, i)));
        fitting.map(|(operand, text, _)| Cause::new(Reads(operand), text))
    })
}

/// Returns `the last 8 of 24 terms of each sum are`, or `the last of 24 terms of each sum is`.
fn terms_of(side: &str, n: usize, all: usize) -> String {
    let (n, are) = if n == 1 { (String::new(), "is") } else { (format!("{n} "), "are") };
    format!("the {side} {n}of {all} terms of each sum {are}")
}

/// Returns the term that sums lack, and the one that they have twice.
fn replaced_term(
    k: usize,
    samples: &[Place],
    term: &dyn Fn(Place, usize) -> f64,
    near: Near<'_>,
) -> Option<(usize, usize)> {
    const MAX_TERMS: usize = 256;
    let mut pairs: Vec<(usize, usize)> = match k {
        ..=MAX_TERMS => (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).filter(|(i, j)| i != j).collect(),
        _ => return None,
    };
    for place in samples {
        let terms: Vec<f64> = (0..k).map(|i| term(*place, i)).collect();
        let total: f64 = terms.iter().sum();
        pairs.retain(|(lost, twice)| near(*place, total - terms[*lost] + terms[*twice]));
    }
    match pairs[..] {
        [pair] => Some(pair),
        _ => None,
    }
}

/// Rows or columns of a thread, or of one load of a block.
const STEPS: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// Steps of k that a round of the loop over tiles may take.
const DEPTHS: [usize; 5] = [4, 8, 16, 32, 64];

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

    /// Returns up to so many of the wrong places, spread over all of them and over their columns: in equal steps, they
    /// could all lie in a few columns.
    fn samples(&self, most: usize) -> Vec<Place> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let n = most.min(self.n);
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

    fn cells(&self, high: usize, wide: usize) -> Vec<Vec<Cell>> {
        let mut cells = vec![vec![Cell::default(); self.cols.div_ceil(wide)]; self.rows.div_ceil(high)];
        for (index, wrong) in self.is.iter().enumerate() {
            let cell = &mut cells[index / self.cols / high][index % self.cols / wide];
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

#[cfg(test)]
mod tests {
    use super::*;
    use reference::Problem;
    use reference::inputs::Data;
    use reference::verify::compare;

    const SHAPE: Shape = Shape { m: 70, n: 90, k: 24 };

    fn problem(data: Data, shape: Shape) -> Problem<f32> {
        Problem::new(shape, data, 7)
    }

    fn right(problem: &Problem<f32>) -> Vec<f32> {
        problem.c.iter().map(|v| *v as f32).collect()
    }

    #[track_caller]
    fn diagnosis(problem: &Problem<f32>, got: &[f32]) -> Diagnosis {
        let answer = problem.answer();
        let comparison = compare(&answer, got);
        assert!(!comparison.is_right(), "the test made no mistake");
        let result = WrongResult {
            answer: &answer,
            got: f32::widen(got),
            comparison: &comparison,
            work: Work::Sgemm,
            tile: Some([16, 32]),
            terms: Some(Terms {
                shape: problem.shape,
                a: f32::widen(&problem.a),
                b: f32::widen(&problem.b),
                turned: [false; 2],
            }),
            right_on_integers: problem.data == Data::Reals,
        };
        result.diagnose()
    }

    /// Returns the sentence about a result on integers in which some elements are changed.
    #[track_caller]
    fn why(change: impl Fn(&Problem<f32>, &mut [f32])) -> String {
        let problem = problem(Data::Integers, SHAPE);
        let mut got = right(&problem);
        change(&problem, &mut got);
        diagnosis(&problem, &got).why
    }

    fn product(shape: Shape, a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32) -> Vec<f32> {
        let element = |row: usize, col: usize| (0..shape.k).map(|k| a(row, k) * b(k, col)).sum();
        (0..shape.m * shape.n).map(|i| element(i / shape.n, i % shape.n)).collect()
    }

    /// Makes `got` the result when each term of a sum has a weight.
    fn weigh(problem: &Problem<f32>, got: &mut [f32], weight: fn(usize) -> f32) {
        let a = |row: usize, k: usize| problem.a[row * 24 + k] * weight(k);
        got.copy_from_slice(&product(SHAPE, a, |k, col| problem.b[k * 90 + col]));
    }

    #[test]
    fn values_that_a_mistake_would_give() {
        type Change = fn(&Problem<f32>, &mut [f32]);
        let cases: [(Change, &str); 14] = [
            (
                |_, got| {
                    got.chunks_mut(90)
                        .for_each(|row| (0..90).filter(|i| i % 32 >= 20).for_each(|i| row[i] = f32::POISON))
                },
                "of every 32 columns of C only the first 20 are written: no thread writes the others",
            ),
            (
                |problem, got| weigh(problem, got, |k| [1.0, 2.0, 0.0, 1.0][(k + 1).saturating_sub(22).min(3)]),
                "of 24 terms of each sum one is missing (k = 23), and k = 22 is counted twice",
            ),
            (
                |problem, got| weigh(problem, got, |k| if k % 8 == 7 { 0.0 } else { 1.0 }),
                "of every 8 terms of each sum the last one is missing",
            ),
            (
                |problem, got| weigh(problem, got, |k| if k % 4 < 2 { 0.0 } else { 1.0 }),
                "of every 4 terms of each sum the first 2 are missing",
            ),
            (|_, got| got.fill(f32::POISON), "all 6300 elements are wrong: nothing was written to C"),
            (
                |_, got| got.chunks_mut(90).for_each(|row| row[64..].fill(f32::POISON)),
                "1820 of 6300 elements are wrong: they were never written; only in the last tiles across, of 26 columns: \
                 C ends inside of them (tiles are 16 x 32)",
            ),
            (|_, got| got.fill(f32::NAN), "something is read from C, or from memory that nobody wrote"),
            (|_, got| got.fill(0.0), "elements are wrong: they are 0"),
            (
                |problem, got| weigh(problem, got, |k| if k < 16 { 1.0 } else { 0.0 }),
                "the last 8 of 24 terms of each sum are missing (k >= 16)",
            ),
            (
                |problem, got| weigh(problem, got, |k| if k >= 8 { 1.0 } else { 0.0 }),
                "the first 8 of 24 terms of each sum are missing (k < 8)",
            ),
            (
                |problem, got| weigh(problem, got, |k| if k >= 20 { 2.0 } else { 1.0 }),
                "the last 4 of 24 terms of each sum are counted twice (k >= 20)",
            ),
            (
                |problem, got| (0..).zip(got).for_each(|(i, v)| *v = problem.c[i % 70 * 90 + i / 70] as f32),
                "rows and columns are swapped",
            ),
            (
                |problem, got| {
                    let has_neighbour = |(i, _): &(usize, &mut f32)| i % 90 < 89;
                    let changed = (0..).zip(got).filter(has_neighbour);
                    changed.for_each(|(i, v)| *v = problem.c[i + 1] as f32);
                },
                "right neighbour",
            ),
            (|_, got| got.iter_mut().for_each(|v| *v *= 2.0), "each is twice what it should be"),
        ];
        for (change, expected) in cases {
            let text = why(change);
            assert!(text.contains(expected), "{text}, not {expected}");
        }
    }

    #[test]
    fn sums_that_end_at_another_dimension() {
        let shape = Shape { m: 40, n: 7, k: 24 };
        let problem = problem(Data::Integers, shape);
        let a = |row: usize, k: usize| if k < 7 { problem.a[row * 24 + k] } else { 0.0 };
        let why = diagnosis(&problem, &product(shape, a, |k, col| problem.b[k * 7 + col])).why;
        assert!(why.contains("terms of each sum are missing (k >= 7), as if k ended at N, which is 7 here"), "{why}");
    }

    #[test]
    fn other_products() {
        let square = Shape::square(40);
        let problem = problem(Data::Integers, square);
        let (a, b) = (&problem.a, &problem.b);
        let plain = |x: &[f32], i: usize, j: usize| x[i * 40 + j];
        let cases: [(Vec<f32>, &str); 6] = [
            (product(square, |r, k| plain(a, r, k), |k, c| plain(a, k, c)), "A is read where B belongs"),
            (product(square, |r, k| plain(b, r, k), |k, c| plain(b, k, c)), "B is read where A belongs"),
            (product(square, |r, k| plain(b, r, k), |k, c| plain(a, k, c)), "the operands are swapped"),
            (product(square, |r, k| plain(a, r, k), |k, c| plain(b, c, k)), "B is read as if its rows were columns"),
            (product(square, |r, k| plain(a, k, r), |k, c| plain(b, k, c)), "A is read as if its rows were columns"),
            (
                product(square, |r, k| plain(a, r, if k % 4 < 2 { k } else { k ^ 1 }), |k, c| plain(b, k, c)),
                "of every 4 steps of k, 2 and 3 are exchanged",
            ),
        ];
        for (got, text) in cases {
            let why = diagnosis(&problem, &got).why;
            assert!(why.contains(text), "{why}, not {text}");
        }
        let problem = self::problem(Data::Integers, SHAPE);
        let b = |k: usize, col: usize| if col < 24 { problem.b[k * 24 + col] } else { 0.0 };
        let why = diagnosis(&problem, &product(SHAPE, |row, k| problem.a[row * 24 + k], b)).why;
        assert!(why.contains("B is read as if each of its rows had K elements, which is 24 here"), "{why}");
    }

    #[test]
    fn elements_of_other_places() {
        let problem = problem(Data::Integers, SHAPE);
        let (a, b) = (&problem.a, &problem.b);
        let a = |row: usize, i: usize| if row < 70 && i < 24 { a[row * 24 + i] } else { 0.0 };
        let b = |i: usize, col: usize| if i < 24 && col < 90 { b[i * 90 + col] } else { 0.0 };
        // What a thread finds in its tiles: loaded from the round's first k on, `i` of them on.
        type Tiles<'t> = &'t dyn Fn([usize; 2], usize, usize) -> f32;
        let cases: [(Tiles<'_>, &str); 10] = [
            (
                &|[row, col], k0, i| a(k0 + row % 16, row / 16 * 16 + i) * b(k0 + i, col),
                "each tile of A starts in row k0, column block_row: the two coordinates are exchanged",
            ),
            (
                &|[row, col], k0, i| a(row, k0 + i) * b(col / 32 * 32 + i, k0 + col % 32),
                "each tile of B starts in row block_col, column k0",
            ),
            (
                &|[row, col], k0, i| a(row, k0 + i) * b(col / 16 * 16 + i, k0 + col % 16),
                "each box of B starts in the row of its column",
            ),
            (
                &|[row, col], k0, i| a(row, i) * b(k0 + i, col),
                "columns of A below 16 again: the index of A does not move",
            ),
            (&|[row, col], k0, i| a(row, k0 + i) * b(i, col), "rows of B below 16 again: the index of B does not move"),
            (&|[row, col], k0, i| a(row + k0, i) * b(k0 + i, col), "added to the row of A in place of its column"),
            (&|[row, col], k0, i| a(row, k0 + i) * b(i, col + k0), "added to the column of B in place of its row"),
            (
                &|[row, col], k0, i| a(row / 16 * 16 + i, k0 + row % 16) * b(k0 + i, col),
                "each 16 x 16 tile of A is read with row and column exchanged",
            ),
            (
                &|[row, col], k0, i| a(row, k0 + i) * b(k0 + col % 16, col / 16 * 16 + i),
                "each 16 x 16 tile of B is read with row and column exchanged",
            ),
            (
                &|[row, col], k0, i| if k0 == 16 { a(row, k0 + i) * b(k0 + i, col) } else { 0.0 },
                "as if the sum started anew in each round",
            ),
        ];
        for (of_tiles, text) in cases {
            let element = |row: usize, col: usize| -> f32 {
                [0, 16]
                    .iter()
                    .flat_map(|k0| (0..16).map(move |i| (*k0, i)))
                    .map(|(k0, i)| of_tiles([row, col], k0, i))
                    .sum()
            };
            let got: Vec<f32> = (0..70 * 90).map(|at| element(at / 90, at % 90)).collect();
            let why = diagnosis(&problem, &got).why;
            assert!(why.contains(text), "{why}, not {text}");
        }
        type From = fn(usize) -> usize;
        let columns: [(From, &str); 6] = [
            (
                |col| col / 16 * 16 + (col / 2 % 4 * 2 + col / 8 % 2) * 2 + col % 2,
                "in every 16 columns, 2 columns together, place c of 8 holds what belongs in place c % 4 * 2 + c / 4",
            ),
            (|col| col % 8 * 4 + col / 8, "place c of 32 holds what belongs in place c % 8 * 4 + c / 8, as 1 holds 4"),
            (
                |col| col / 2 % 4 * 8 + col / 8 * 2 + col % 2,
                "2 columns together, place c of 16 holds what belongs in place c % 4",
            ),
            (|col| col ^ 16, "the columns are exchanged 16 by 16"),
            (|col| col ^ 7, "column c of a tile holds what belongs in c ^ 7"),
            (
                |col| if col < 20 { col } else { col - 12 },
                "12 before it: where a thread reads its columns, or where it stores them, \
             an offset is wrong; only where column % 32 is 20 to 31 in C",
            ),
        ];
        for (from, text) in columns {
            let mut got = right(&problem);
            for (at, value) in got.iter_mut().enumerate() {
                let col = at % 90 / 32 * 32 + from(at % 90 % 32);
                *value = if col < 90 { problem.c[at / 90 * 90 + col] as f32 } else { 0.0 };
            }
            let why = diagnosis(&problem, &got).why;
            assert!(why.contains(text), "{why}, not {text}");
        }
        let mut got = right(&problem);
        for (row, col) in (0..64).flat_map(|row| (0..90).map(move |col| (row, col))) {
            let is_moved = row / 8 % 2 != col % 2;
            got[row * 90 + col] = problem.c[if is_moved { (row ^ 8) * 90 + (col ^ 1) } else { row * 90 + col }] as f32;
        }
        let why = diagnosis(&problem, &got).why;
        assert!(why.contains("C[r][c + 1] and C[r + 8][c] are exchanged"), "{why}");
        let mut got = vec![f32::POISON; 70 * 90];
        for (row, col) in (0..70).flat_map(|row| (0..70).map(move |col| (row, col))) {
            got[col * 90 + row] = problem.c[row * 90 + col] as f32;
        }
        let why = diagnosis(&problem, &got).why;
        assert!(why.contains("the store exchanges the two"), "{why}");
    }

    #[test]
    fn less_precision_than_promised() {
        let problem = problem(Data::Reals, SHAPE);
        // As TF32 keeps them: ten bits after the point.
        let short = |v: f32| f32::from_bits(v.to_bits() & !0x1fff);
        let got = product(SHAPE, |r, k| short(problem.a[r * 24 + k]), |k, c| short(problem.b[k * 90 + c]));
        let why = diagnosis(&problem, &got).why;
        assert!(why.contains("it computes in a lower precision"), "{why}");
    }

    #[test]
    fn of_equal_lines_none_is_told_from_another() {
        // Each tile holds its first row, and by chance every fourth row should hold the same.
        let shape = Shape { m: 33, n: 31, k: 1 };
        let mut problem = problem(Data::Integers, shape);
        problem.a = (0..33).map(|row| [3.0, 5.0, 7.0, 4.0][row % 4]).collect();
        let right = product(shape, |row, _| problem.a[row], |_, col| problem.b[col]);
        problem.c = right.iter().copied().map(f64::from).collect();
        let got: Vec<f32> = (0..33 * 31).map(|at| right[at / 31 / 16 * 16 * 31 + at % 31]).collect();
        let why = diagnosis(&problem, &got).why;
        assert!(why.contains("elements are wrong") && !why.contains("hold"), "{why}");
    }

    #[test]
    fn places_that_have_a_name() {
        let spoil = |rule: fn(usize, usize) -> bool| {
            why(move |_, got| {
                for (i, v) in got.iter_mut().enumerate() {
                    if rule(i / 90, i % 90) {
                        *v += 1000.0;
                    }
                }
            })
        };
        type Rule = fn(usize, usize) -> bool;
        let cases: [(Rule, &str); 7] = [
            (|row, _| row >= 64, "only in the last tiles down, of 6 rows"),
            (|row, col| row >= 64 && col >= 64, "only in the corner tile"),
            (|row, col| row >= 64 || col >= 64, "only in the tiles at the lower and the right edge"),
            (|row, _| row >= 50, "only in the rows from 50 on"),
            (|row, col| (row / 16 + col / 32) % 2 == 1, "only in every second tile, as on a chess board"),
            (|_, col| (col / 32) % 2 == 0, "only in every second column of tiles"),
            (|_, col| col % 8 >= 6, "only where column % 8 is 6, 7"),
        ];
        for (rule, text) in cases {
            let told = spoil(rule);
            assert!(told.contains(text), "{told}, not {text}");
        }
    }

    #[test]
    fn nothing_is_concluded_from_few_elements() {
        // One element that happens to be a sum that ends too early, in the corner tile.
        let text = why(|problem, got| {
            let last = got.len() - 1;
            let term = problem.a[69 * 24 + 23] * problem.b[23 * 90 + 89];
            got[last] -= if term == 0.0 { 1.0 } else { term };
        });
        assert_eq!(text, "1 of 6300 elements are wrong: in 1 of 15 tiles");
        let shape = Shape { m: 1, n: 1, k: 5 };
        let small = problem(Data::Integers, shape);
        let told = diagnosis(&small, &[small.c[0] as f32 + 1.0]).why;
        assert_eq!(told, "all 1 elements are wrong");
    }

    #[test]
    fn the_only_column_of_tiles_is_no_edge() {
        let shape = Shape { m: 70, n: 20, k: 8 };
        let problem = problem(Data::Integers, shape);
        let mut got = right(&problem);
        (0..16 * 20).for_each(|i| got[i] += 1000.0);
        let told = diagnosis(&problem, &got).why;
        assert_eq!(told, "320 of 1400 elements are wrong: in 1 of 5 tiles");
        let mut got = right(&problem);
        (16 * 20..32 * 20).for_each(|i| got[i] += 1000.0);
        let told = diagnosis(&problem, &got).why;
        assert!(!told.contains("every second"), "{told}");
    }

    #[test]
    fn the_text_has_the_first_wrong_element_and_a_map() {
        let problem = problem(Data::Integers, SHAPE);
        let mut got = right(&problem);
        for row in 20..30 {
            got[row * 90 + 40] += 1.0;
        }
        let told = diagnosis(&problem, &got);
        let want = problem.c[20 * 90 + 40];
        assert_eq!(
            told.details,
            format!(
                "10 of 6300 elements are wrong\n\
                 the first: C[20][40] is {}, and should be {want}\n  \
                 it belongs to block (1, 1): row 4, column 8 of its 16 x 32 tile\n\
                 it looks like this: in 1 of 15 tiles\n  \
                 each character is 16 x 32 elements of C: . right, o partly wrong, # all wrong\n    \
                 ...\n    .o.\n    ...\n    ...\n    ...\n",
                want + 1.0
            )
        );
    }

    #[test]
    fn a_large_map_fits_a_terminal() {
        let problem = problem(Data::Integers, Shape { m: 600, n: 2000, k: 1 });
        let mut got = right(&problem);
        got[0] += 1.0;
        let told = diagnosis(&problem, &got).details;
        let map: Vec<_> = told.lines().filter(|line| line.starts_with("    ")).collect();
        assert!(
            map.len() <= MAX_MAP_CELLS[0] && map.iter().all(|line| line.trim().len() <= MAX_MAP_CELLS[1]),
            "{told}"
        );
        assert!(map[0].trim().starts_with("o."), "{told}");
    }
}
