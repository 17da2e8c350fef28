//! Compares v06 and v07: the order in which one warp loads, stores, waits and multiplies.
//!
//! The order is that of the executed PTX, without times: the work between a global load and its first use.

use anyhow::Context as _;
use catalog::Shape;

use crate::lanes::{Bar, Lanes};
use crate::machine::{self, FIRST, Trace};
use crate::svg::{Anchor, Drawing, WIDTH};

const KERNELS: [(&str, &str); 2] =
    [("sgemm_v06_outer_product", "v06: load, then multiply"), ("sgemm_v07_double_buffer", "v07: load ahead")];
/// Tiles along K, so that some rounds are neither first nor last.
const TILES: usize = 6;

/// Part of the main loop that an instruction belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    GlobalLoad,
    SharedStore,
    Barrier,
    SharedLoad,
    Fma,
}

const ROWS: [(Purpose, &str, &str); 4] = [
    (Purpose::GlobalLoad, "load global", "a"),
    (Purpose::SharedStore, "store shared", "b"),
    (Purpose::SharedLoad, "load shared", "d"),
    (Purpose::Fma, "multiply-add", "c"),
];

fn purpose(text: &str) -> Option<Purpose> {
    let mnemonic = text.split_whitespace().find(|word| !word.starts_with('@'))?;
    let kinds = [
        ("ld.global", Purpose::GlobalLoad),
        ("st.shared", Purpose::SharedStore),
        ("bar", Purpose::Barrier),
        ("ld.shared", Purpose::SharedLoad),
        ("fma", Purpose::Fma),
    ];
    kinds.into_iter().find(|(start, _)| mnemonic.starts_with(start)).map(|(_, kind)| kind)
}

/// Returns the instructions of a warp, without those that only compute addresses.
fn sequence(trace: &Trace) -> Vec<Purpose> {
    (0..trace.steps.len()).filter_map(|step| purpose(trace.text(step))).collect()
}

/// Returns the first load of each tile.
fn starts(sequence: &[Purpose]) -> Vec<usize> {
    let is_load = |at: usize| sequence[at] == Purpose::GlobalLoad;
    (0..sequence.len()).filter(|&at| is_load(at) && (at == 0 || !is_load(at - 1))).collect()
}

/// Two rounds in the middle, and the distance from a load to its use.
struct Rounds {
    /// Begins with a load.
    sequence: Vec<Purpose>,
    /// Index of the first store that needs it.
    used: usize,
}

fn rounds(kernel: &'static str) -> anyhow::Result<Rounds> {
    let depth = machine::constant(kernel, "BK")? as usize;
    let [m, n] = machine::tile(kernel)?;
    let shape = Shape { m: m as usize, n: n as usize, k: TILES * depth };
    let trace = machine::product(kernel, shape, FIRST)?;
    let all = sequence(&trace);
    let starts = starts(&all);
    anyhow::ensure!(starts.len() >= TILES, "{kernel}: {} groups of loads", starts.len());
    let (from, to) = (starts[2], starts[4]);
    let sequence = all[from..to].to_vec();
    let used = sequence.iter().position(|purpose| *purpose == Purpose::SharedStore);
    let used = used.with_context(|| format!("{kernel} stores nothing to shared memory"))?;
    Ok(Rounds { sequence, used })
}

impl Rounds {
    fn hidden_behind(&self) -> usize {
        let between = &self.sequence[..self.used];
        between.iter().filter(|purpose| **purpose == Purpose::Fma).count()
    }
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let rounds: Vec<Rounds> = KERNELS.into_iter().map(|(kernel, _)| rounds(kernel)).collect::<anyhow::Result<_>>()?;
    let mut drawing = Drawing::titled(
        "Two rounds of one warp, in program order",
        format!(
            "Rows for loads from global memory, stores to shared memory, loads from it, and multiply-adds; barriers are \
             lines across. In v06 a tile is stored right after it is loaded, with {} multiply-adds in between; in v07 {} \
             multiply-adds lie in between, and a round has one barrier instead of two.",
            rounds[0].hidden_behind(),
            rounds[1].hidden_behind()
        ),
    );
    let mut y = 28.0;
    for ((_, name), rounds) in KERNELS.into_iter().zip(&rounds) {
        y = track(&mut drawing, y, name, rounds) + 14.0;
    }
    drawing.note(y + 6.0, "Dashed: barriers. To the right: order, not time.");
    Ok(drawing.finish(y + 14.0))
}

fn track(drawing: &mut Drawing, top: f64, name: &str, rounds: &Rounds) -> f64 {
    const LABELS: f64 = 100.0;
    const ROW: f64 = 20.0;
    const STEPS: usize = 340;
    let n = rounds.sequence.len();
    let bin = |at: usize| at * STEPS / n;
    let x = |at: usize| LABELS + bin(at) as f64;
    let n_barriers = rounds.sequence.iter().filter(|k| **k == Purpose::Barrier).count() / 2;
    drawing.text("strong", Anchor::Start, (0.0, top + 16.0), name);
    let plural = if n_barriers == 1 { "" } else { "s" };
    let barriers = format!("{n_barriers} barrier{plural} per round");
    drawing.text("dim", Anchor::End, (WIDTH, top + 16.0), barriers);

    // From the load to its use.
    let bracket = top + 46.0;
    let (from, to) = (x(0) + 1.0, x(rounds.used).max(LABELS + 8.0));
    drawing.arrow("line-a", (from, bracket), (to, bracket));
    drawing.line("line-a", (from, bracket - 4.0), (from, bracket + 4.0));
    let hidden = match rounds.hidden_behind() {
        0 => "from load to use: no multiply-add".to_owned(),
        n => format!("from load to use: {n} multiply-adds"),
    };
    drawing.text("ink-a", Anchor::Start, (LABELS, bracket - 9.0), hidden);

    let rows = bracket + 8.0;
    let lanes = Lanes { left: LABELS, last: STEPS as f64, row: ROW };
    let mut bottom = rows;
    for (kind, label, class) in ROWS {
        let mut marks: Vec<[usize; 2]> = Vec::new();
        for at in (0..n).filter(|at| rounds.sequence[*at] == kind).map(bin) {
            match marks.last_mut() {
                Some(last) if last[1] >= at => last[1] = at + 1,
                _ => marks.push([at, at + 1]),
            }
        }
        // Short marks are widened to be visible.
        let bars: Vec<Bar> = marks.iter().map(|[from, to]| Bar::of(class, [*from, (*to).max(from + 3)], "")).collect();
        bottom = lanes.lane(drawing, bottom, label, &bars);
    }
    for (at, _) in rounds.sequence.iter().enumerate().filter(|(_, k)| **k == Purpose::Barrier) {
        drawing.line("dash barrier", (x(at) + 0.5, rows), (x(at) + 0.5, bottom));
    }
    bottom
}
