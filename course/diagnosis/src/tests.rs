use super::*;
use reference::{Problem, inputs::Data, verify::compare};

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
        terms: Some(Terms::of(problem)),
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

/// Asserts the diagnosis of a result.
#[track_caller]
fn says(problem: &Problem<f32>, got: &[f32], text: &str) {
    let why = diagnosis(problem, got).why;
    assert!(why.contains(text), "{why}, not {text}");
}

#[test]
fn values_that_a_mistake_would_give() {
    type Change = fn(&Problem<f32>, &mut [f32]);
    let cases: [(Change, &str); 14] = [
        (
            |_, got| {
                got.chunks_mut(90).for_each(|row| (0..90).filter(|i| i % 32 >= 20).for_each(|i| row[i] = f32::POISON))
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
    says(
        &problem,
        &product(shape, a, |k, col| problem.b[k * 7 + col]),
        "terms of each sum are missing (k >= 7), as if k ended at N, which is 7 here",
    );
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
        says(&problem, &got, text);
    }
    let problem = self::problem(Data::Integers, SHAPE);
    let b = |k: usize, col: usize| if col < 24 { problem.b[k * 24 + col] } else { 0.0 };
    says(
        &problem,
        &product(SHAPE, |row, k| problem.a[row * 24 + k], b),
        "B is read as if each of its rows had K elements, which is 24 here",
    );
}

#[test]
fn elements_of_other_places() {
    let problem = problem(Data::Integers, SHAPE);
    let (a, b) = (&problem.a, &problem.b);
    let a = |row: usize, i: usize| if row < 70 && i < 24 { a[row * 24 + i] } else { 0.0 };
    let b = |i: usize, col: usize| if i < 24 && col < 90 { b[i * 90 + col] } else { 0.0 };
    // What a thread finds in its tiles: loaded from the round's first k on, `i` of them on.
    type Tiles<'t> = &'t dyn Fn([usize; 2], usize, usize) -> f32;
    let cases: [(Tiles<'_>, &str); 13] = [
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
            "columns of A below 16 are used again: the index of A does not move",
        ),
        (
            &|[row, col], k0, i| a(row, k0 + i) * b(i, col),
            "rows of B below 16 are used again: the index of B does not move",
        ),
        (&|[row, col], k0, i| a(row + k0, i) * b(k0 + i, col), "added to the row of A in place of its column"),
        (&|[row, col], k0, i| a(row, k0 + i) * b(i, col + k0), "k0 is added to the column of B in place of its row"),
        (
            &|[row, col], k0, i| match k0 + i {
                k @ 8.. => a(row, k) * b(k - 8, col + 8),
                k => a(row, k) * b(k, col),
            },
            "from k = 8 on, 8 is added to the column of B in place of its row",
        ),
        (
            &|[row, col], k0, i| a(row, k0 + i) * b(k0 + i, row / 16 * 16 + col % 32),
            "the columns of B start where the rows of the block do",
        ),
        (
            &|[row, col], k0, i| a(col / 32 * 32 + row % 16, k0 + i) * b(k0 + i, col),
            "the rows of A start where the columns of the block do",
        ),
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
        says(&problem, &got, text);
    }
    type From = fn(usize) -> usize;
    let columns: [(From, &str); 7] = [
        (|col| col - col / 4 % 2 * 4, "each wrong column holds the values of the column 4 before it"),
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
        says(&problem, &got, text);
    }
    let mut got = right(&problem);
    for (row, col) in (0..64).flat_map(|row| (0..90).map(move |col| (row, col))) {
        let is_moved = row / 8 % 2 != col % 2;
        got[row * 90 + col] = problem.c[if is_moved { (row ^ 8) * 90 + (col ^ 1) } else { row * 90 + col }] as f32;
    }
    says(&problem, &got, "C[r][c + 1] and C[r + 8][c] are exchanged");
    let mut got = vec![f32::POISON; 70 * 90];
    for (row, col) in (0..70).flat_map(|row| (0..70).map(move |col| (row, col))) {
        got[col * 90 + row] = problem.c[row * 90 + col] as f32;
    }
    says(&problem, &got, "the store exchanges the two");
}

#[test]
fn less_precision_than_promised() {
    let problem = problem(Data::Reals, SHAPE);
    // As TF32 keeps them: ten bits after the point.
    let short = |v: f32| f32::from_bits(v.to_bits() & !0x1fff);
    let got = product(SHAPE, |r, k| short(problem.a[r * 24 + k]), |k, c| short(problem.b[k * 90 + c]));
    says(&problem, &got, "it computes in a lower precision");
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
    assert!(map.len() <= MAX_MAP_CELLS[0] && map.iter().all(|line| line.trim().len() <= MAX_MAP_CELLS[1]), "{told}");
    assert!(map[0].trim().starts_with("o."), "{told}");
}
