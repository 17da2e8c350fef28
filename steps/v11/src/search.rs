//! `search`: goes through all plans that are legal, for `cargo xtask tune v11 --search`, which compiles them.
//!
//! `candidates` lists them with their sources, the most promising first; `predict` gives the times of their consumer
//! warps; `best` names those that would be the fastest; `verify` multiplies with them. These run on the emulated
//! device. `time` takes the best by the clock of a GPU. `page` prints the order, for the book that of the last search.

mod clock;
mod multipliers;
mod rank;
mod verify;

use std::collections::BTreeMap;
use std::process::ExitCode;

use harness::{Shape, StepError};
use serde::Serialize;
use v11::forecast::Forecast;
use v11::gemm::{self, Costs};
use v11::plans::{PLANS, Plan};
use v11::space::{self, Space};

use crate::tune::{self, could_not};

/// A product for each class of shapes that the plans in use were made for.
#[rustfmt::skip]
const CLASSES: [[usize; 3]; 11] = [
    [256; 3], [512; 3], [1024; 3], [2048; 3], [4096; 3],
    [4096, 128, 4096], [128, 4096, 4096], [4096, 4096, 128],
    // Rows that start anywhere.
    [255; 3], [1023; 3], [4095; 3],
];

/// Multiprocessors of the card for which plans are ranked.
const SMS: usize = 132;

type Files = Vec<(String, String)>;

#[derive(Serialize)]
struct Candidate {
    name: String,
    multipliers: String,
    kernel: String,
}

/// Runs the command `search`. Results go to standard output, progress to standard error.
pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["page"] => rank::page(None),
        ["page", forecasts] => rank::page(Some(forecasts)),
        ["candidates"] => candidates(),
        ["predict", list, seconds] => multipliers::predict(list, seconds),
        ["predict-part", list, seconds, i, n] => multipliers::predict_part(list, seconds, i, n),
        ["best", forecasts, most] => rank::best(forecasts, most),
        ["verify", list] => verify::verify(list),
        ["verify-one", name, ptx] => verify::verify_one(name, ptx),
        ["time", list, forecasts, all] => clock::time(list, forecasts, all),
        _ => Err(could_not("this is for: cargo xtask tune v11 --search")),
    };
    harness::exit_code(done.map(|()| ExitCode::SUCCESS))
}

fn answer(value: &impl Serialize) -> Result<(), StepError> {
    harness::out::write(&format!("{}\n", serde_json::to_string(value).map_err(could_not)?))
}

fn bytes(path: &str) -> Result<Vec<u8>, StepError> {
    std::fs::read(path).map_err(|error| could_not(format!("{path}: {error}")))
}

fn text(path: &str) -> Result<String, StepError> {
    std::fs::read_to_string(path).map_err(|error| could_not(format!("{path}: {error}")))
}

fn read(path: &str) -> Result<Files, StepError> {
    serde_json::from_str(&text(path)?).map_err(|error| could_not(format!("{path}: {error}")))
}

fn plans() -> Vec<Plan> {
    let deepest = Space::whole().deepest();
    let others = deepest.into_iter().filter(|plan| in_use(&space::name(plan)).is_none());
    PLANS.into_iter().chain(others).collect()
}

fn in_use(name: &str) -> Option<&'static Plan> {
    PLANS.iter().find(|plan| space::name(plan) == name)
}

fn find(name: &str) -> Result<Plan, StepError> {
    let found = Space::whole().legal.into_iter().find(|plan| space::name(plan) == name);
    found.ok_or_else(|| could_not(format!("there is no plan {name}")))
}

/// Returns the operands that a plan needs packed, where rows are stored without gaps; `None` where it cannot read them.
fn packed(plan: &Plan, [m, n, k]: [usize; 3]) -> Option<[bool; 2]> {
    let shape = Shape { m, n, k };
    gemm::packed(plan, shape, tune::forms(shape))
}

/// Lists all candidates: the plans in use, then the others by their places in the ranking of each class.
fn candidates() -> Result<(), StepError> {
    eprint!("{}", rank::counts(&Space::whole()));
    let (plans, timed) = (plans(), Costs::committed());
    let mut place: BTreeMap<String, usize> = BTreeMap::new();
    for shape in CLASSES {
        let counted = plans.iter().map(|plan| (plan, Forecast::counted(plan)));
        for (i, (plan, ..)) in rank::ranked(counted, shape, &timed).iter().enumerate() {
            let best = place.entry(space::name(plan)).or_insert(i);
            *best = i.min(*best);
        }
    }
    let mut ordered: Vec<_> = plans.iter().collect();
    ordered.sort_by_key(|plan| {
        let name = space::name(plan);
        let place = place.get(&name).copied().unwrap_or(usize::MAX);
        (in_use(&name).is_none(), place, name)
    });
    let candidate = |plan: &Plan| Candidate {
        name: space::name(plan),
        multipliers: space::multipliers_source(plan),
        kernel: space::kernel_source(plan),
    };
    answer(&ordered.into_iter().map(candidate).collect::<Vec<_>>())
}
