//! Orders plans by their predicted time, and rates that order where the time was measured.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use harness::{Shape, StepError};
use v11::costs::{CostInput, CostTerms, expected, terms};
use v11::forecast::{self, Forecast};
use v11::gemm::Costs;
use v11::plans::{PLANS, Plan, Sharing};
use v11::space::{self, Space};

use super::{CLASSES, SMS, answer, in_use, packed, plans, text};
use crate::tune::could_not;

/// The forecasts of a search, committed for the book and for tests.
const COMMITTED: &str = include_str!("../../data/forecasts.tsv");

/// Prints the plans to verify and time, by the forecasts in a file: at most `most` new ones of each class.
pub(super) fn best(file: &str, most: &str) -> Result<(), StepError> {
    let forecasts = forecast::read(&text(file)?);
    let most: usize = most.parse().map_err(could_not)?;
    let (plans, timed) = (plans(), Costs::committed());
    let known = known(&plans, &forecasts);
    let mut chosen: Vec<String> = Vec::new();
    for shape in CLASSES {
        let ranked = ranked(known.iter().copied(), shape, &timed);
        let names = ranked.iter().map(|(plan, ..)| space::name(plan));
        for name in names.filter(|name| in_use(name).is_none()).take(most) {
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
    }
    answer(&chosen)
}

/// Prints the order of plans by the forecasts in a file, by default the committed ones with the whole space.
pub(super) fn page(file: Option<&str>) -> Result<(), StepError> {
    let (head, text) = match file {
        Some(file) => (String::new(), text(file)?),
        None => (counts(&Space::whole()), COMMITTED.to_owned()),
    };
    let refused = text.lines().filter(|line| line.contains("\trefused\t")).count();
    let (plans, timed, forecasts) = (plans(), Costs::committed(), forecast::read(&text));
    let known = known(&plans, &forecasts);
    let (table, agreement) = (table(&known, &timed), Agreement::measure(&known, &timed));
    harness::out::write(&format!(
        "{head}{} of them were compiled and predicted, the most promising first; {refused} of the best are refused\n\n\
         {table}\n{agreement}",
        known.len() + refused,
    ))
}

/// Formats the number of combinations of constants, and the number that breaks each rule.
pub(super) fn counts(space: &Space) -> String {
    let (n, legal, deepest) = (space.n(), space.legal.len(), space.deepest().len());
    let mut text = format!("{n} combinations of constants; without a kernel are those with\n");
    for (rule, n) in &space.illegal {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{n:>8}  {rule}");
    }
    text + &format!("{legal} are left, and {deepest} with the deepest ring that fits\n")
}

fn known<'a>(plans: &'a [Plan], forecasts: &BTreeMap<String, Forecast>) -> Vec<(&'a Plan, Forecast)> {
    let with = |plan: &'a Plan| Some((plan, *forecasts.get(&space::name(plan))?));
    plans.iter().filter_map(with).collect()
}

/// Sorts plans by expected time, the fastest first; returns each with its time and its sharing.
pub(super) fn ranked<'a>(
    plans: impl Iterator<Item = (&'a Plan, Forecast)>,
    shape: [usize; 3],
    timed: &Costs,
) -> Vec<(&'a Plan, f64, Sharing)> {
    let mut ranked: Vec<_> = plans
        .filter_map(|(plan, forecast)| {
            let constants = forecast.constants(plan, timed);
            let (us, sharing) = forecast::best(plan, &constants, shape, packed(plan, shape)?, SMS)?;
            Some((plan, us, sharing))
        })
        .collect();
    // Equal ones are ordered by name, so that the order is always the same.
    ranked.sort_by(|(a, a_us, _), (b, b_us, _)| {
        let by_name = || space::name(a).cmp(&space::name(b));
        a_us.total_cmp(b_us).then_with(by_name)
    });
    ranked
}

/// Returns the plan that is predicted fastest for each class, of all and of those in use.
fn table(known: &[(&Plan, Forecast)], timed: &Costs) -> String {
    let mut text = String::from("predicted, in us\n");
    let mut row = |product: &str, [first, us, second, us_in_use]: [&str; 4]| {
        let _ = writeln!(text, "{product:<15} {first:<36}{us:>8}  {second:<36}{us_in_use:>8}");
    };
    row("product", ["fastest", "", "of those in use", ""]);
    for shape in CLASSES {
        let ranked = ranked(known.iter().copied(), shape, timed);
        let cells = |found: Option<&(&Plan, f64, Sharing)>| match found {
            Some((plan, us, _)) => (space::name(plan), format!("{us:.2}")),
            None => ("none".into(), String::new()),
        };
        let (first, us) = cells(ranked.first());
        let of_those = ranked.iter().find(|(plan, ..)| in_use(&space::name(plan)).is_some());
        let (second, us_in_use) = cells(of_those);
        let [m, n, k] = shape;
        row(&Shape { m, n, k }.to_string(), [&first, &us, &second, &us_in_use]);
    }
    text
}

/// The agreement of predictions with measured times, for the plans in use.
pub(super) struct Agreement {
    device: String,
    plans: usize,
    products: usize,
    times: usize,
    /// Mean over the products of Spearman's rank correlation.
    rank_correlation: f64,
    /// Mean relative error of the predictions.
    error: f64,
    /// Relative loss of the plan that is predicted fastest against the fastest: on average and at worst.
    lost: [f64; 2],
}

impl Agreement {
    pub(super) fn measure(known: &[(&Plan, Forecast)], timed: &Costs) -> Self {
        let constants: BTreeMap<&str, (&Plan, CostTerms)> = known
            .iter()
            .filter(|(plan, _)| PLANS.contains(plan))
            .map(|(plan, forecast)| (plan.entry, (*plan, forecast.constants(plan, timed))))
            .collect();
        let mut products: BTreeMap<[usize; 3], Vec<(f64, f64)>> = BTreeMap::new();
        for sample in forecast::samples() {
            let predicted = constants.get(sample.entry).and_then(|(plan, constants)| {
                let work = CostInput {
                    shape: sample.shape,
                    sharing: sample.sharing,
                    packed: packed(plan, sample.shape)?,
                };
                Some(expected(constants, &terms(plan, &work, SMS)?))
            });
            if let Some(us) = predicted {
                products.entry(sample.shape).or_default().push((us, sample.us));
            }
        }
        let mean = |of: &mut dyn Iterator<Item = f64>| {
            let all: Vec<f64> = of.collect();
            all.iter().sum::<f64>() / all.len().max(1) as f64
        };
        let lost = |pairs: &Vec<(f64, f64)>| {
            let first = pairs.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1.0, |pair| pair.1);
            first / pairs.iter().map(|pair| pair.1).fold(f64::INFINITY, f64::min) - 1.0
        };
        let off = |(us, real): &(f64, f64)| (us / real - 1.0).abs();
        Self {
            device: timed.device.clone(),
            plans: constants.len(),
            products: products.len(),
            times: products.values().map(Vec::len).sum(),
            rank_correlation: mean(
                &mut products.values().filter_map(|pairs| forecast::rank_correlation(pairs)),
            ),
            error: mean(&mut products.values().flatten().map(off)),
            lost: [mean(&mut products.values().map(lost)), products.values().map(lost).fold(0.0, f64::max)],
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, plans, products, times, rank_correlation, .. } = self;
        let [error, lost, most_lost] = [self.error, self.lost[0], self.lost[1]].map(|part| 100.0 * part);
        write!(
            f,
            "{plans} plans in use, beside {times} times of {products} products on an {device}:\n  \
             rank correlation of predicted and measured times: {rank_correlation:.2} on average\n  \
             predictions are off by {error:.0} %\n  \
             the plan that is predicted fastest takes {lost:.1} % longer than the fastest, {most_lost:.0} % at worst\n"
        )
    }
}
