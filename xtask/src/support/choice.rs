//! Which steps, and on which sizes: the part of the command line that `bench` and `check` share.

use ladder::{STEPS, Shape, Step};

use crate::support::place;
use crate::support::say::Stop;

/// The largest number of elements of a matrix: kernels compute indices in `int`.
const MAX_ELEMENTS: usize = i32::MAX as usize;

/// Steps by number or name, each once; all of them for `all`. `command` is who asks, for the example in the message.
pub(crate) fn steps(command: &str, asked: &[String]) -> Result<Vec<&'static Step>, Stop> {
    let mut chosen: Vec<&'static Step> = Vec::new();
    for text in asked {
        let found = match text.as_str() {
            "all" => STEPS.iter().collect(),
            text => vec![ladder::find(text).map_err(|error| Stop::Usage(error.to_string()))?],
        };
        for step in found {
            if !chosen.contains(&step) {
                chosen.push(step);
            }
        }
    }
    if chosen.is_empty() {
        let me = place::me();
        return Err(Stop::Usage(format!(
            "which step? For example: {me} {command} v05, or {me} {command} all"
        )));
    }
    Ok(chosen)
}

/// Sizes of the problem.
#[derive(clap::Args)]
pub(crate) struct Sizes {
    /// Square sizes: `--size 1024`, `--size 512,1024`
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["m", "n", "k"])]
    size: Vec<usize>,
    /// Rows of A and C
    #[arg(long)]
    m: Option<usize>,
    /// Columns of B and C
    #[arg(long)]
    n: Option<usize>,
    /// Columns of A, rows of B
    #[arg(long)]
    k: Option<usize>,
}

impl Sizes {
    /// The shapes that were asked for: none for the step's own.
    pub(crate) fn shapes(&self) -> Result<Vec<Shape>, Stop> {
        let mut shapes: Vec<Shape> = self.size.iter().map(|size| Shape::square(*size)).collect();
        match (self.m, self.n, self.k) {
            (Some(m), Some(n), Some(k)) => shapes.push(Shape { m, n, k }),
            (None, None, None) => {}
            given => {
                let names = [("--m", given.0), ("--n", given.1), ("--k", given.2)];
                let missing: Vec<&str> = names
                    .iter()
                    .filter(|(_, size)| size.is_none())
                    .map(|(name, _)| *name)
                    .collect();
                let missing = missing.join(" and ");
                return Err(Stop::Usage(format!(
                    "--m, --n and --k go together: {missing} missing (for a square, --size)"
                )));
            }
        }
        for shape in &shapes {
            possible(*shape)?;
        }
        Ok(shapes)
    }
}

fn possible(shape: Shape) -> Result<(), Stop> {
    let Shape { m, n, k } = shape;
    if m == 0 || n == 0 || k == 0 {
        return Err(Stop::Usage("sizes start at 1".into()));
    }
    let matrices = [("A", m, k), ("B", k, n), ("C", m, n)];
    for (name, rows, columns) in matrices {
        if rows.checked_mul(columns).is_none_or(|n| n > MAX_ELEMENTS) {
            return Err(Stop::Usage(format!(
                "{name} would be {rows} x {columns}, and the kernels count elements in an int: at most {MAX_ELEMENTS} \
                 of them, which is 46340 x 46340"
            )));
        }
    }
    Ok(())
}

/// As a step takes them.
pub(crate) fn arguments(shapes: &[Shape]) -> Vec<String> {
    let one = |shape: &Shape| {
        let Shape { m, n, k } = *shape;
        let pairs = match m == n && n == k {
            true => vec![("--size", m)],
            false => vec![("--m", m), ("--n", n), ("--k", k)],
        };
        pairs
            .into_iter()
            .flat_map(|(name, size)| [name.to_owned(), size.to_string()])
    };
    shapes.iter().flat_map(one).collect()
}

/// Steps that have kernels of ours; the others have nothing to look at.
pub(crate) fn with_kernels(steps: &[&'static Step]) -> Result<Vec<&'static Step>, Stop> {
    let has = |step: &&&Step| step.kernels.iter().any(|kernel| kernel.source.is_some());
    match (
        steps
            .iter()
            .copied()
            .filter(|step| has(&step))
            .collect::<Vec<_>>(),
        steps,
    ) {
        (with, [only]) if with.is_empty() => {
            Err(Stop::Usage(format!("{} has no kernels in kernels/", only.id)))
        }
        (with, _) => Ok(with),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_square_is_allowed_and_the_next_is_not() {
        possible(Shape::square(46340)).expect("fits");
        possible(Shape::square(46341)).unwrap_err();
        possible(Shape::square(usize::MAX)).unwrap_err();
    }

    #[test]
    fn a_step_is_chosen_once_however_it_is_called() {
        let asked = ["5", "float4", "v05", "bank-conflict-free"].map(String::from);
        let ids: Vec<_> = steps("bench", &asked)
            .expect("steps")
            .iter()
            .map(|s| s.id)
            .collect();
        assert_eq!(ids, ["v05", "v04"]);
    }
}
