//! Diagnoses a wrong result: how much is wrong, where, and in one sentence, what it looks like.
//!
//! The sentence has two halves, each found on its own. *What* the wrong elements hold (nothing, zeros, a sum that ends
//! too early, another product) is compared on a sample of them with what such a mistake would give; on integers that is
//! exact, so a match is no accident. *Where* they lie is compared with the tiles.

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

/// One sentence, and a text with everything.
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
    /// Map of the wrong tiles; empty for a single tile.
    pub map: String,
}

/// Number of wrong elements that are examined in detail.
const N_SAMPLES: usize = 24;
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
        let (clue, what) = match self.is_zero(&wrong) {
            // Products of numbers below 1, rounded towards zero.
            true if self.right_on_integers => (Clue::Specific, Some(format!("{ZEROS} on reals{WHOLE}"))),
            true => (Clue::Zeros, Some(ZEROS.to_owned())),
            false => self.what(&wrong).map_or((Clue::Nothing, None), |(clue, what)| (clue, Some(what))),
        };
        let (clue, sentence) = match (what, self.place(&wrong)) {
            (Some(what), Some(place)) => (clue.max(Clue::Place), Some(format!("{what}; {place}"))),
            (None, Some(place)) => (Clue::Place, Some(place)),
            (what, None) => (clue, what),
        };
        let why = match &sentence {
            Some(sentence) => format!("{amount}: {sentence}"),
            None => amount.clone(),
        };
        let mut details = format!("{amount}{}\n", self.not_finite());
        let first = self.comparison.first.map_or(String::new(), |[row, col]| self.first(row, col));
        if !first.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(details, "{first}");
        }
        if let Some(sentence) = &sentence {
            let _ = writeln!(details, "it looks like this: {sentence}");
        }
        let map = self.map(&wrong);
        details.push_str(&map);
        Diagnosis { why, details, first, looks: sentence, clue, map }
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

    fn is_zero(&self, wrong: &Wrong) -> bool {
        let cols = self.answer.cols();
        wrong.samples().iter().all(|[row, col]| self.got[row * cols + col] == 0.0)
    }

    fn what(&self, wrong: &Wrong) -> Option<(Clue, String)> {
        let specific = |text: String| Some((Clue::Specific, text));
        let samples = wrong.samples();
        let all = |holds: &dyn Fn(usize, usize) -> bool| samples.iter().all(|[row, col]| holds(*row, *col));
        let cols = self.answer.cols();
        let got = |row: usize, col: usize| self.got[row * cols + col];
        if let Some(text) = self.unwritten() {
            return specific(text);
        }
        if self.comparison.n_untouched == self.comparison.n_wrong {
            return Some(match self.comparison.n_wrong == self.got.len() {
                true => (Clue::Specific, format!("nothing was written to {}", self.output())),
                false => (Clue::Place, "they were never written".into()),
            });
        }
        if self.comparison.n_nan == self.comparison.n_wrong {
            let from = match self.work {
                Work::Transpose => "a place that nobody wrote",
                _ => "C, or from memory that nobody wrote",
            };
            return specific(format!(
                "they are NaN though the inputs are not: something is read from {from}, or computed as 0 / 0"
            ));
        }
        if samples.len() < MIN_SAMPLES {
            return None;
        }
        let near = |row: usize, col: usize, value: f64| (got(row, col) - value).abs() <= self.answer.bound(row, col);
        let rows = self.answer.rows();
        // The value that would lie here if the output was stored column by column.
        let turned = |row: usize, col: usize| {
            let index = row * cols + col;
            self.answer.want(index % rows, index / rows)
        };
        if (rows, cols) != (1, 1) && all(&|row, col| near(row, col, turned(row, col))) {
            return specific("rows and columns are swapped: each value is right in the transposed place".into());
        }
        // A guard may leave some out.
        let written: Vec<_> = samples.iter().filter(|[row, col]| !got(*row, *col).is_poison()).collect();
        let exchanged = |row: usize, col: usize| row < cols && col < rows && near(row, col, self.answer.want(col, row));
        if written.len() >= MIN_SAMPLES && written.iter().all(|[row, col]| exchanged(*row, *col)) {
            let name = self.output();
            return specific(format!(
                "{name}[row][col] holds the value of {name}[col][row]: the store exchanges the two"
            ));
        }
        if let Some(found) = self.terms.as_ref().and_then(|terms| sums(terms, &samples, &near)) {
            return specific(found);
        }
        if let Some(text) = self.rearranged(&samples, &near) {
            return specific(text);
        }
        for (down, across, text) in [
            (0, 1, "each is the value of its right neighbour"),
            (0, -1, "each is the value of its left neighbour"),
            (1, 0, "each is the value of the row below"),
            (-1, 0, "each is the value of the row above"),
        ] {
            let neighbour = |row: usize, col: usize| {
                let row = row.checked_add_signed(down).filter(|row| *row < rows)?;
                let col = col.checked_add_signed(across).filter(|col| *col < cols)?;
                Some(self.answer.want(row, col))
            };
            let inside: Vec<_> =
                samples.iter().filter_map(|[row, col]| Some((*row, *col, neighbour(*row, *col)?))).collect();
            if inside.len() >= MIN_SAMPLES && inside.iter().all(|(row, col, value)| near(*row, *col, *value)) {
                return specific(format!("{text}: an index is off by one"));
            }
        }
        if all(&|row, col| near(row, col, 2.0 * self.answer.want(row, col))) {
            return specific("each is twice what it should be".into());
        }
        if self.right_on_integers && self.comparison.n_nan == 0 {
            if all(&|row, col| got(row, col).fract() == 0.0) {
                return specific(format!("each is a whole number on reals{WHOLE}"));
            }
            let sums = match self.work {
                Work::Tensor { operands, .. } => format!("sums of {} products", operands.name()),
                _ => "sums in the precision of C".to_owned(),
            };
            return specific(format!(
                "right on small integers, but on reals up to {:.0} times the error that {sums} can have: \
                 it computes in a lower precision",
                self.comparison.max_of_bound.ceil()
            ));
        }
        None
    }

    /// Returns what elements that were never written have in common: the places that stores reach follow a rule.
    fn unwritten(&self) -> Option<String> {
        let size = [self.answer.rows(), self.answer.cols()];
        let (name, tile) = (self.output(), self.output_tile()?);
        let written = |row: usize, col: usize| !self.got[row * size[1] + col].is_poison();
        let exactly = |rule: &dyn Fn([usize; 2]) -> bool| {
            (0..size[0] * size[1]).all(|at| written(at / size[1], at % size[1]) == rule([at / size[1], at % size[1]]))
        };
        let n_tiles = [size[0].div_ceil(tile[0]), size[1].div_ceil(tile[1])];
        let both = |[row, col]: [usize; 2]| row / tile[0] < n_tiles[1] && col / tile[1] < n_tiles[0];
        if self.comparison.n_untouched == 0 {
            return None;
        }
        if n_tiles[0].min(n_tiles[1]) > 1 && exactly(&both) {
            return Some(format!(
                "{name} has {} x {} tiles, and they are written as if it had {} x {}: blockIdx.x and blockIdx.y are \
                 exchanged, or rows and columns in a bound",
                n_tiles[0], n_tiles[1], n_tiles[1], n_tiles[0]
            ));
        }
        (0..2).find_map(|axis| {
            let (line, all) = (["row", "column"][axis], tile[axis]);
            let steps = STEPS.iter().filter(|step| **step < all && 2 * **step <= size[axis]);
            let lacks =
                "the others were never written: no thread takes them, or the index lacks what is added for them";
            steps.into_iter().find_map(|&step| {
                if exactly(&|place| place[axis].is_multiple_of(step)) {
                    Some(format!("of every {step} {line}s of {name} only the first is written: {lacks}"))
                } else if exactly(&|place| place[axis] % all < step) {
                    Some(format!("of every {all} {line}s of {name} only the first {step} are written: {lacks}"))
                } else {
                    None
                }
            })
        })
    }

    /// Returns the rule by which wrong elements hold the values of others: an index lacks a part, or two are exchanged.
    fn rearranged(&self, samples: &[[usize; 2]], near: &dyn Fn(usize, usize, f64) -> bool) -> Option<String> {
        let (rows, cols) = (self.answer.rows(), self.answer.cols());
        let (name, tile) = (self.output(), self.output_tile()?);
        let written: Vec<_> = samples.iter().filter(|[row, col]| !self.got[row * cols + col].is_poison()).collect();
        // What lies outside is made of zeros.
        let follows = |from: &dyn Fn([usize; 2]) -> [usize; 2]| {
            let value = |[row, col]: [usize; 2]| (row < rows && col < cols).then(|| self.answer.want(row, col));
            let n_inside = written.iter().filter(|place| value(from(***place)).is_some()).count();
            n_inside >= MIN_SAMPLES
                && written.iter().all(|place| near(place[0], place[1], value(from(**place)).unwrap_or(0.0)))
        };
        let [high, wide] = tile;
        let operand = |axis: usize| match self.work {
            Work::Transpose => "the input",
            _ => ["A", "B"][axis],
        };
        for axis in [0, 1] {
            let (line, all) = (["row", "column"][axis], tile[axis]);
            let moved = |place: [usize; 2], to: &dyn Fn(usize) -> usize| {
                let mut place = place;
                place[axis] = to(place[axis]);
                place
            };
            for &step in STEPS.iter().filter(|step| **step < all) {
                if follows(&|place| moved(place, &|at| at - at % step)) {
                    return Some(format!(
                        "of every {step} {line}s of {name} all hold what belongs in the first: where it is computed \
                         or stored, an index lacks the number of the {line} among the {step}"
                    ));
                }
                if follows(&|place| moved(place, &|at| at - at % all + at % all % step)) {
                    return Some(format!(
                        "in each tile the first {step} {line}s come again in place of the others: the {line} of {} lacks \
                         what is added for them",
                        operand(axis)
                    ));
                }
            }
            if follows(&|place| moved(place, &|at| at % all)) {
                let (of_block, dim) = (["first row", "first column"][axis], ["y", "x"][axis]);
                return Some(match self.work {
                    Work::Transpose => format!("each tile holds the values of the first one along its {line}s"),
                    _ => format!(
                        "each tile has the {line}s of the first one: the index of {} lacks the block's {of_block} \
                         (blockIdx.{dim})",
                        operand(axis)
                    ),
                });
            }
        }
        let swap = |[row, col]: [usize; 2], n: usize| [row - row % n + col % n, col - col % n + row % n];
        if let Some(step) = STEPS.iter().find(|n| **n <= high.min(wide) && follows(&|place| swap(place, **n))) {
            return Some(format!(
                "each {step} x {step} square of {name} has its rows and columns exchanged: so are two indices, as in [j][i] \
                 for [i][j]"
            ));
        }
        // Columns of a thread that lie apart.
        let apart = |[row, col]: [usize; 2], n: usize| {
            let stride = (wide / n).max(1);
            let (i, j) = (row % n, col % wide / stride);
            [row - i + j, col - j * stride + i * stride]
        };
        if STEPS.iter().any(|n| *n <= high.min(wide) && follows(&|place| apart(place, *n))) {
            return Some(
                "the rows and columns of each thread are exchanged: two indices, as in [j][i] for [i][j]".into(),
            );
        }
        let corner = |[row, col]: [usize; 2]| [col / wide * high + row % high, row / high * wide + col % wide];
        follows(&corner).then(|| {
            format!(
                "the tiles of {name} are exchanged, each right in itself: where a tile starts, its row comes from the \
                 other blockIdx than its column needs"
            )
        })
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
        let wrong_lines = tiles.iter().filter(|line| line.iter().any(|cell| cell.n_wrong > 0)).count();
        let across = tiles.first().map_or(0, Vec::len);
        let wrong_columns = (0..across).filter(|at| tiles.iter().any(|line| line[*at].n_wrong > 0)).count();
        if wrong_lines.max(wrong_columns) > 1 {
            type Parity = fn(usize, usize) -> usize;
            let rules: [(&str, Parity); 3] = [
                ("every second row of tiles", |down, _| down % 2),
                ("every second column of tiles", |_, across| across % 2),
                ("every second tile, as on a chess board", |down, across| (down + across) % 2),
            ];
            for (text, parity) in rules {
                for odd in [0, 1] {
                    let exactly = tiles.iter().enumerate().all(|(down, line)| {
                        line.iter()
                            .enumerate()
                            .all(|(across, cell)| (cell.n_wrong > 0) == (parity(down, across) == odd))
                    });
                    let enough = match text {
                        "every second row of tiles" => wrong_lines > 1,
                        "every second column of tiles" => wrong_columns > 1,
                        _ => wrong_lines > 1 && wrong_columns > 1,
                    };
                    if exactly && enough {
                        return Some(format!("only in {text}"));
                    }
                }
            }
        }
        if let Some(text) = wrong.residues(name) {
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

/// Sums that a mistake would make.
fn sums(terms: &Terms, samples: &[[usize; 2]], near: &dyn Fn(usize, usize, f64) -> bool) -> Option<String> {
    let Shape { m, n, k } = terms.shape;
    let at = |x: &[f64], index: usize| x.get(index).copied().unwrap_or(0.0);
    let a_place = |turned: bool, row: usize, i: usize| if turned { i * m + row } else { row * k + i };
    let b_place = |turned: bool, i: usize, col: usize| if turned { col * k + i } else { i * n + col };
    let [turned_a, turned_b] = terms.turned;
    let term = |row: usize, col: usize, i: usize| {
        at(&terms.a, a_place(turned_a, row, i)) * at(&terms.b, b_place(turned_b, i, col))
    };

    // Sums that end too early, begin too late, or count an end twice: the same number of terms everywhere.
    let mut ends: Vec<usize> = (1..k).collect();
    let mut begins = ends.clone();
    let mut twice = ends.clone();
    for [row, col] in samples {
        let mut sum = vec![0.0; k + 1];
        for i in 0..k {
            sum[i + 1] = sum[i] + term(*row, *col, i);
        }
        let total = sum[k];
        ends.retain(|end| near(*row, *col, sum[*end]));
        begins.retain(|begin| near(*row, *col, total - sum[*begin]));
        twice.retain(|begin| near(*row, *col, total + (total - sum[*begin])));
    }
    // The last that fits: as few terms as possible are missing.
    if let Some(end) = ends.last() {
        return Some(format!("the last {} of {k} terms of each sum are missing (k >= {end})", k - end));
    }
    if let Some(&begin) = begins.first() {
        let is_last_round = DEPTHS.iter().any(|depth| depth < &k && (k - 1) / depth * depth == begin);
        let cause = match (is_last_round, k - begin == 1 && k > 2) {
            (true, true) => ", as if each round of the loop over k, or each term, replaced the sum",
            (true, false) => ", as if the sum started anew in each round of the loop over k",
            (false, true) => ", as if each term replaced the sum: `=` in place of `+=`",
            (false, false) => "",
        };
        return Some(format!("the first {begin} of {k} terms of each sum are missing (k < {begin}){cause}"));
    }
    if let Some(begin) = twice.last() {
        return Some(format!("the last {} of {k} terms of each sum are counted twice (k >= {begin})", k - begin));
    }

    type Term<'t> = &'t dyn Fn(usize, usize, usize) -> f64;
    let products: [(&str, Term<'_>); 6] = [
        ("A * A in place of A * B: A is read where B belongs", &|row, col, i| {
            at(&terms.a, a_place(turned_a, row, i)) * at(&terms.a, b_place(turned_b, i, col))
        }),
        ("B * B in place of A * B: B is read where A belongs", &|row, col, i| {
            at(&terms.b, a_place(turned_a, row, i)) * at(&terms.b, b_place(turned_b, i, col))
        }),
        ("B * A in place of A * B: the operands are swapped", &|row, col, i| {
            at(&terms.b, a_place(turned_a, row, i)) * at(&terms.a, b_place(turned_b, i, col))
        }),
        ("B is read as if its rows were columns", &|row, col, i| {
            at(&terms.a, a_place(turned_a, row, i)) * at(&terms.b, b_place(!turned_b, i, col))
        }),
        ("A is read as if its rows were columns", &|row, col, i| {
            at(&terms.a, a_place(!turned_a, row, i)) * at(&terms.b, b_place(turned_b, i, col))
        }),
        ("A and B are read as if their rows were columns", &|row, col, i| {
            at(&terms.a, a_place(!turned_a, row, i)) * at(&terms.b, b_place(!turned_b, i, col))
        }),
    ];
    let fits = |product: Term<'_>, n_terms: usize| {
        samples.iter().all(|[row, col]| near(*row, *col, (0..n_terms).map(|i| product(*row, *col, i)).sum()))
    };
    if let Some((text, _)) = products.iter().find(|(_, product)| fits(product, k)) {
        return Some((*text).to_owned());
    }

    // Elements of other places, where the loop over k takes steps of `depth`; zeros past the edges.
    let a_at = |row: usize, i: usize| if row < m && i < k { at(&terms.a, a_place(turned_a, row, i)) } else { 0.0 };
    let b_at = |i: usize, col: usize| if i < k && col < n { at(&terms.b, b_place(turned_b, i, col)) } else { 0.0 };
    DEPTHS.iter().filter(|depth| **depth < k).find_map(|&depth| {
        let start = |i: usize| i / depth * depth;
        let swapped = |i: usize, j: usize| (start(i) + j % depth, start(j) + i % depth);
        let products: [(String, Term<'_>); 6] = [
            (
                format!(
                    "each round uses the columns of A below {depth} again: the index of A does not move on with them"
                ),
                &|row, col, i| a_at(row, i % depth) * b_at(i, col),
            ),
            (
                format!("each round uses the rows of B below {depth} again: the index of B does not move on with them"),
                &|row, col, i| a_at(row, i) * b_at(i % depth, col),
            ),
            ("k0 is added to the row of A in place of its column".to_owned(), &|row, col, i| {
                a_at(row + start(i), i % depth) * b_at(i, col)
            }),
            ("k0 is added to the column of B in place of its row".to_owned(), &|row, col, i| {
                a_at(row, i) * b_at(i % depth, col + start(i))
            }),
            (format!("each {depth} x {depth} tile of A is read with row and column exchanged"), &|row, col, i| {
                let (row, i_of_a) = swapped(row, i);
                a_at(row, i_of_a) * b_at(i, col)
            }),
            (format!("each {depth} x {depth} tile of B is read with row and column exchanged"), &|row, col, i| {
                let (i_of_b, col) = swapped(i, col);
                a_at(row, i) * b_at(i_of_b, col)
            }),
        ];
        // The last round may be longer than k: its zeros count as well.
        let n_terms = k.div_ceil(depth) * depth;
        products.into_iter().find(|(_, product)| fits(*product, n_terms)).map(|(text, _)| text)
    })
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

    /// Returns samples of the wrong places, spread over all of them.
    fn samples(&self) -> Vec<[usize; 2]> {
        // A step that shares no factor with the number of columns, or all samples could lie in one.
        let step = (self.n / N_SAMPLES).max(1) | 1;
        self.places().step_by(step).take(N_SAMPLES).collect()
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
    fn residues(&self, name: &str) -> Option<String> {
        for (axis, what, size) in [(0, "row", self.rows), (1, "column", self.cols)] {
            for modulus in [2, 4, 8, 16, 32] {
                if size < 2 * modulus {
                    break;
                }
                let mut remainders = vec![false; modulus];
                for place in self.places() {
                    remainders[place[axis] % modulus] = true;
                }
                let n_remainders = remainders.iter().filter(|remains| **remains).count();
                // Most lines with such a remainder are wrong, and they are at most half of all lines.
                let n_such: usize =
                    (0..size).filter(|i| remainders[i % modulus]).count() * (self.rows * self.cols / size);
                if 2 * n_remainders <= modulus && self.n * 10 >= n_such * 9 {
                    let remainders: Vec<_> = (0..modulus).filter(|i| remainders[*i]).map(|i| i.to_string()).collect();
                    return Some(format!("only where {what} % {modulus} is {} in {name}", remainders.join(", ")));
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
        let cases: [(Change, &str); 10] = [
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
    fn other_products() {
        let square = Shape::square(40);
        let problem = problem(Data::Integers, square);
        let (a, b) = (&problem.a, &problem.b);
        let plain = |x: &[f32], i: usize, j: usize| x[i * 40 + j];
        let cases: [(Vec<f32>, &str); 5] = [
            (product(square, |r, k| plain(a, r, k), |k, c| plain(a, k, c)), "A is read where B belongs"),
            (product(square, |r, k| plain(b, r, k), |k, c| plain(b, k, c)), "B is read where A belongs"),
            (product(square, |r, k| plain(b, r, k), |k, c| plain(a, k, c)), "the operands are swapped"),
            (product(square, |r, k| plain(a, r, k), |k, c| plain(b, c, k)), "B is read as if its rows were columns"),
            (product(square, |r, k| plain(a, k, r), |k, c| plain(b, k, c)), "A is read as if its rows were columns"),
        ];
        for (got, text) in cases {
            let why = diagnosis(&problem, &got).why;
            assert!(why.contains(text), "{why}, not {text}");
        }
    }

    #[test]
    fn elements_of_other_places() {
        let problem = problem(Data::Integers, SHAPE);
        let (a, b) = (&problem.a, &problem.b);
        let a = |row: usize, i: usize| if row < 70 && i < 24 { a[row * 24 + i] } else { 0.0 };
        let b = |i: usize, col: usize| if i < 24 && col < 90 { b[i * 90 + col] } else { 0.0 };
        // What a thread finds in its tiles: loaded from the round's first k on, `i` of them on.
        type Tiles<'t> = &'t dyn Fn([usize; 2], usize, usize) -> f32;
        let cases: [(Tiles<'_>, &str); 7] = [
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
