//! Wrong sums: what a mistake in the loop over k, or in a read of A or B, would give.

use catalog::Shape;

use super::{Cause, Near, Place, Subject, Terms};

/// Steps of k that a round of the loop over tiles may take.
const DEPTHS: [usize; 5] = [4, 8, 16, 32, 64];

/// Returns the mistake whose sums the wrong elements hold.
pub(super) fn sums(terms: &Terms, tile: Option<[usize; 2]>, samples: &[Place], near: Near<'_>) -> Option<Cause> {
    use Subject::{Reads, Rounds, SetAnew, Unknown};
    let Terms { shape: Shape { m, n, k }, ref a, ref b, transposed } = *terms;
    let at = |x: &[f64], index: usize| x.get(index).copied().unwrap_or(0.0);
    let a_place = |transposed: bool, row: usize, i: usize| if transposed { i * m + row } else { row * k + i };
    let b_place = |transposed: bool, i: usize, col: usize| if transposed { col * k + i } else { i * n + col };
    // A term of the element in a row and a column.
    let term = |x: &[f64], y: &[f64], transposed: [bool; 2], [row, col]: Place, i: usize| {
        at(x, a_place(transposed[0], row, i)) * at(y, b_place(transposed[1], i, col))
    };

    // Sums that end too early, begin too late, or count an end twice: the same number of terms everywhere.
    let mut ends: Vec<usize> = (1..k).collect();
    let mut begins = ends.clone();
    let mut twice = ends.clone();
    for place in samples {
        let mut sum = vec![0.0; k + 1];
        for i in 0..k {
            sum[i + 1] = sum[i] + term(a, b, transposed, *place, i);
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
    let right = |place: Place, i: usize| term(a, b, transposed, place, i);
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
    let [transposed_a, transposed_b] = transposed;
    type Product<'p> = (&'static str, &'p [f64], &'p [f64], [bool; 2]);
    let products: [Product<'_>; 6] = [
        ("A * A in place of A * B: A is read where B belongs", a, a, transposed),
        ("B * B in place of A * B: B is read where A belongs", b, b, transposed),
        ("B * A in place of A * B: the operands are swapped", b, a, transposed),
        ("B is read as if its rows were columns", a, b, [transposed_a, !transposed_b]),
        ("A is read as if its rows were columns", a, b, [!transposed_a, transposed_b]),
        ("A and B are read as if their rows were columns", a, b, [!transposed_a, !transposed_b]),
    ];
    if let Some((text, ..)) =
        products.iter().find(|(_, x, y, transposed)| fits(k, &|place, i| term(x, y, *transposed, place, i)))
    {
        return Some(Cause::new(Unknown, *text));
    }

    // Rows as long as another dimension, with zeros past their end or without.
    let others = |is_a: bool| [("M", m, is_a), ("N", n, is_a), ("K", k, is_a)];
    let pitch = others(true).into_iter().chain(others(false)).find(|&(_, length, is_a)| {
        let own = if is_a { [k, m][usize::from(transposed_a)] } else { [n, k][usize::from(transposed_b)] };
        let read = |[row, col]: Place, i: usize, has_zeros: bool| {
            let (x, [line, rest], is_turned) =
                if is_a { (a, [row, i], transposed_a) } else { (b, [i, col], transposed_b) };
            let [line, rest] = if is_turned { [rest, line] } else { [line, rest] };
            if has_zeros && rest >= length { 0.0 } else { at(x, line * length + rest) }
        };
        let right = |[row, col]: Place, i: usize| match is_a {
            true => at(b, b_place(transposed_b, i, col)),
            false => at(a, a_place(transposed_a, row, i)),
        };
        own != length && [true, false].iter().any(|zeros| fits(k, &|place, i| read(place, i, *zeros) * right(place, i)))
    });
    if let Some((name, length, is_a)) = pitch {
        let operand = if is_a { "A" } else { "B" };
        let text = format!("{operand} is read as if each of its rows had {name} elements, which is {length} here");
        return Some(Cause::new(Reads(operand), text));
    }

    // Elements of other places, where the loop over k takes steps of `depth`; zeros past the edges.
    let a_at = |[row, i]: Place| if row < m && i < k { at(a, a_place(transposed_a, row, i)) } else { 0.0 };
    let b_at = |[i, col]: Place| if i < k && col < n { at(b, b_place(transposed_b, i, col)) } else { 0.0 };
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
    let [tile_height, tile_width] = tile.unwrap_or([1, 1]);
    let exchanged = "the two coordinates are exchanged (a tensor copy names the innermost first)";
    DEPTHS.iter().filter(|depth| **depth < k).find_map(|&depth| {
        let start = |i: usize| i / depth * depth;
        // Boxes of B may be as wide as they are deep.
        let box_of = |tile_width: usize| {
            move |[row, col]: Place, i: usize| [[row, i], [col - col % tile_width + i % depth, start(i) + col % tile_width]]
        };
        let before = |i: usize| if i < depth { i } else { i - depth };
        let moved = |i: usize| if i < depth { 0 } else { depth };
        let other: [(&str, String, Places<'_>); 14] = [
            (
                "A",
                format!("each round uses the {depth} columns of A and rows of B of the round before"),
                &|[row, col], i| [[row, before(i)], [before(i), col]],
            ),
            (
                "A",
                format!("from k = {depth} on, the columns of A below {depth} are used again: the index of A does not move on as it should"),
                &|[row, col], i| [[row, i % depth], [i, col]],
            ),
            (
                "B",
                format!("from k = {depth} on, the rows of B below {depth} are used again: the index of B does not move on as it should"),
                &|[row, col], i| [[row, i], [i % depth, col]],
            ),
            ("A", "k0 is added to the row of A in place of its column".into(), &|[row, col], i| {
                [[row + start(i), i % depth], [i, col]]
            }),
            ("B", "k0 is added to the column of B in place of its row".into(), &|[row, col], i| {
                [[row, i], [i % depth, col + start(i)]]
            }),
            ("A", format!("from k = {depth} on, {depth} is added to the row of A in place of its column"), &|[row, col], i| {
                [[row + moved(i), before(i)], [i, col]]
            }),
            ("B", format!("from k = {depth} on, {depth} is added to the column of B in place of its row"), &|[row, col], i| {
                [[row, i], [before(i), col + moved(i)]]
            }),
            ("A", "the rows of A start where the columns of the block do".into(), &|[row, col], i| {
                [[col - col % tile_width + row % tile_height, i], [i, col]]
            }),
            ("B", "the columns of B start where the rows of the block do".into(), &|[row, col], i| {
                [[row, i], [i, row - row % tile_height + col % tile_width]]
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
                [[start(i) + row % tile_height, row - row % tile_height + i % depth], [i, col]]
            }),
            ("B", format!("each tile of B starts in row block_col, column k0: {exchanged}"), &box_of(tile_width)),
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
    k: usize, samples: &[Place], term: &dyn Fn(Place, usize) -> f64, near: Near<'_>,
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
