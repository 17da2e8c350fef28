//! Plans of the library ranked by predicted time, beside their times on an H200: `data/samples.tsv`.
//!
//! `cargo run --release -p v12 --example predictions [-- PART_OF_A_SHAPE]` predicts the launch of every plan for 60
//! products of bf16, from its machine code. The loss of a choice is the time of the plan that is chosen, divided by
//! that of the fastest, less one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use harness::{Bf16, Gpu, Shape, StepError, out};
use v12::gemm::{Factor as _, Gemm, Output, Product, To, kernel_names, list_of};
use v12::predicted::{Predicted, of_machine_code, plans};
use v12::samples;

const PRODUCTS: usize = 60;
/// Losses up to this one are what is wanted.
const NEAR: f64 = 0.03;
/// Plans whose times differ by more are to be in the right order.
const APART: f64 = 1.05;
const HEAD: &str = "\
Measured: one of a graph of equal launches, each of which may begin while the one before ends (programmatic dependent
launch); caches warm. Predicted: the same.
C in FP32 and in bf16 in turns. Fitted: by the terms from which the library chooses, whose constants were fitted to
these times and the others on record. Loss and error in %.

shape                 C    |   us fastest          |   us predicted to be     predicted  loss | loss, fitted
";

/// A plan for a product, with its microseconds.
struct Timed {
    plan: usize,
    measured: f64,
    predicted: Result<f64, String>,
    /// By the library's terms.
    expected: f64,
}

impl Timed {
    fn error(&self) -> Option<f64> {
        self.predicted.as_ref().ok().map(|predicted| predicted / self.measured - 1.0)
    }
}

/// Returns shapes that are multiplied without a copy of an operand, by all plans, with C of this type: their times by
/// plan.
fn measured<R: Output>() -> BTreeMap<Shape, Vec<f64>>
where
    Bf16: To<R>,
{
    let names = kernel_names::<Bf16>().swap_remove(list_of::<Bf16, R>(&Product::new(Shape::square(1))));
    let mut found: BTreeMap<Shape, Vec<f64>> = BTreeMap::new();
    for sample in samples::committed() {
        if let Some(plan) = names.iter().position(|name| *name == sample.kernel) {
            found.entry(sample.shape).or_insert_with(|| vec![f64::NAN; names.len()])[plan] = sample.us;
        }
    }
    found.retain(|_, times| times.iter().all(|us| us.is_finite()));
    found
}

/// Returns shapes from small to large, at equal distances of those for which all plans were measured.
fn chosen(measured: &BTreeMap<Shape, Vec<f64>>) -> Vec<Shape> {
    let mut all: Vec<Shape> = measured.keys().copied().collect();
    all.sort_by(|a, b| a.volume().total_cmp(&b.volume()));
    (0..PRODUCTS).filter_map(|i| all.get((2 * i + 1) * all.len() / (2 * PRODUCTS)).copied()).collect()
}

/// Predicts the launches of all plans for a product.
fn timed<R: Output + harness::inputs::Real>(
    gpu: &Gpu,
    gemm: &Gemm<Bf16>,
    shape: Shape,
    measured: &[f64],
) -> Result<Vec<Timed>, StepError>
where
    Bf16: To<R>,
{
    let all = plans::<Bf16, R>(gpu, gemm, shape)?;
    let timed =
        |Predicted { plan, us, expected }| Timed { plan, measured: measured[plan], predicted: us, expected };
    Ok(all.into_iter().map(timed).collect())
}

/// Returns the plan that is fastest by some times.
fn least(all: &[Timed], us: impl Fn(&Timed) -> f64) -> &Timed {
    all.iter().min_by(|a, b| us(a).total_cmp(&us(b))).expect("there are plans")
}

fn predicted(timed: &Timed) -> f64 {
    *timed.predicted.as_ref().unwrap_or(&f64::INFINITY)
}

/// Returns the losses of choices by predicted and by expected times.
fn losses(all: &[Timed]) -> [f64; 2] {
    let fastest = least(all, |timed| timed.measured).measured;
    [least(all, predicted), least(all, |timed| timed.expected)].map(|chosen| chosen.measured / fastest - 1.0)
}

/// Returns the line of a product.
fn line(shape: Shape, suffix: &str, all: &[Timed]) -> String {
    let name = |timed: &Timed| Bf16::PLANS[timed.plan].name;
    let (fastest, chosen) = (least(all, |timed| timed.measured), least(all, predicted));
    let [by_predicted, by_expected] = losses(all).map(|loss| 100.0 * loss);
    format!(
        "{:21} {suffix:4} | {:8.2} {:18} | {:8.2} {:18} {:8.2} {by_predicted:5.1} | {by_expected:5.1}\n",
        shape.to_string(),
        fastest.measured,
        name(fastest),
        chosen.measured,
        name(chosen),
        predicted(chosen),
    )
}

/// Returns the number of pairs of plans whose times differ enough, and that of those in the right order.
fn pairs(all: &[Timed]) -> [usize; 2] {
    let (mut n, mut right) = (0, 0);
    for (slow, fast) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        if slow.measured > APART * fast.measured && slow.predicted.is_ok() && fast.predicted.is_ok() {
            n += 1;
            right += usize::from(predicted(slow) > predicted(fast));
        }
    }
    [n, right]
}

/// Returns mean and standard deviation, in %.
fn spread(numbers: &[f64]) -> [f64; 2] {
    let n = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / n;
    [mean, variance.sqrt()].map(|number| 100.0 * number)
}

/// Returns what all products have in common.
fn summary(products: &[Vec<Timed>]) -> String {
    let all = || products.iter().flatten();
    let errors: Vec<f64> = all().filter_map(Timed::error).map(f64::abs).collect();
    let mut text = format!(
        "\n{} predictions, off by {:.1} % on average; {} launches without one\n",
        errors.len(),
        spread(&errors)[0],
        all().count() - errors.len(),
    );
    for (who, i) in [("predicted", 0), ("fitted", 1)] {
        let losses: Vec<f64> = products.iter().map(|all| losses(all)[i]).collect();
        let near = losses.iter().filter(|loss| **loss <= NEAR).count();
        let worst = losses.iter().copied().fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "{who}: loss {:.1} % on average, {:.0} % at most; {near} of {} within {:.0} %",
            spread(&losses)[0],
            100.0 * worst,
            losses.len(),
            100.0 * NEAR,
        );
    }
    let [n, right] = products.iter().fold([0, 0], |[n, right], all| {
        let [more, more_right] = pairs(all);
        [n + more, right + more_right]
    });
    let apart = 100.0 * (APART - 1.0);
    let _ = writeln!(
        text,
        "of {n} pairs of plans that differ by more than {apart:.0} %, {right} in the right order"
    );
    text.push_str("\nplan               | mean error, spread\n");
    for (i, plan) in Bf16::PLANS.iter().enumerate() {
        let own = || all().filter(|timed| timed.plan == i);
        let [mean, spread] = spread(&own().filter_map(Timed::error).collect::<Vec<_>>());
        let why = own().find_map(|timed| timed.predicted.as_ref().err());
        let why = why.map_or(String::new(), |why| format!(" | {why}"));
        let _ = writeln!(text, "{:18} | {mean:+6.1} {spread:6.1}{why}", plan.name);
    }
    text
}

fn run(part: &str) -> Result<(), StepError> {
    let gpu = Gpu::find()?;
    let gemm = of_machine_code::<Bf16>(&gpu)?;
    let (to_f32, to_bf16) = (measured::<f32>(), measured::<Bf16>());
    out::write(HEAD)?;
    let mut products = Vec::new();
    for (i, shape) in chosen(&to_f32).into_iter().enumerate() {
        if !shape.to_string().contains(part) {
            continue;
        }
        let (suffix, all) = if i % 2 == 0 {
            (f32::SUFFIX, timed::<f32>(&gpu, &gemm, shape, &to_f32[&shape])?)
        } else {
            (Bf16::SUFFIX, timed::<Bf16>(&gpu, &gemm, shape, &to_bf16[&shape])?)
        };
        out::write(&line(shape, suffix, &all))?;
        products.push(all);
    }
    if products.is_empty() {
        return Err(StepError::CouldNot(format!("none of the {PRODUCTS} shapes has {part} in it")));
    }
    out::write(&summary(&products))
}

fn main() -> ExitCode {
    let part = std::env::args().nth(1).unwrap_or_default();
    harness::exit_code(run(&part).map(|()| ExitCode::SUCCESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_measured_with_both_types_of_c_by_all_plans() {
        let (to_f32, to_bf16) = (measured::<f32>(), measured::<Bf16>());
        let chosen = chosen(&to_f32);
        assert_eq!(chosen.iter().collect::<std::collections::BTreeSet<_>>().len(), PRODUCTS);
        assert!(chosen.iter().all(|shape| to_bf16.contains_key(shape)));
    }

    #[test]
    fn each_plan_has_a_prediction_of_its_order() {
        let gpu = Gpu::find().expect("the emulated one");
        let gemm = of_machine_code::<Bf16>(&gpu).expect("it is committed");
        let to_f32 = measured::<f32>();
        let shape = chosen(&to_f32)[0];
        for timed in timed::<f32>(&gpu, &gemm, shape, &to_f32[&shape]).expect("the emulated GPU predicts") {
            let name = Bf16::PLANS[timed.plan].name;
            assert!(timed.error().is_some_and(|error| error.abs() < 0.3), "{name}: {:?}", timed.predicted);
        }
    }

    #[test]
    fn the_table_of_plans_begins_with_the_fastest_and_has_the_choice() {
        let gpu = Gpu::find().expect("the emulated one");
        let gemm = of_machine_code::<Bf16>(&gpu).expect("it is committed");
        let table = |shape| v12::predicted::table::<Bf16, Bf16>(&gpu, &gemm, shape);
        let text = table(Shape::square(256)).expect("it can be predicted");
        let us: Vec<f64> =
            text.lines().skip(3).map(|line| line[19..31].trim().parse().expect("a time")).collect();
        assert!(us.is_sorted() && us.len() > 20, "{text}");
        assert_eq!(text.matches("the library's choice").count(), 1, "{text}");
        let error = table(Shape::square(255)).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.starts_with("255x255x255: no plan multiplies rows")));
    }
}
