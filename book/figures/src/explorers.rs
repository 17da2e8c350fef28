//! Checks the explorers' rules against the emulator: a table of cases, and a JavaScript engine that evaluates them.
//!
//! The pages of the book run `book/theme/explorers/rules.js`, a port of [`simt::memory::rules`]. Its functions get
//! every case of [`cases`] and must return what the emulator returns. Only then is `checked.js` written, from which a
//! page takes the sentence that reports the check.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use catalog::{Shape, split_mix::SplitMix64};
use simt::memory::rules::{self, Addresses, Direction};

use crate::machine::{self, FIRST, Trace, WarpPosition};
use crate::race::{self, Race};
use crate::steps;

/// An expression over `rules.js`, and its expected value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// JavaScript expression over `R`.
    pub expression: String,
    /// Expected value, as JSON.
    pub expected: String,
}

pub fn folder() -> PathBuf {
    machine::root().join("book/theme/explorers")
}

fn json_list(addresses: &Addresses) -> String {
    serde_json::json!(addresses).to_string()
}

/// Returns all cases: patterns of every kind, and the explorers' own patterns as made by real kernels.
pub fn cases() -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (addresses, bytes) in patterns() {
        cases.extend([Direction::Store, Direction::Load].map(|direction| rule(&addresses, bytes, direction)));
    }
    kernels(&mut cases)?;
    for race in Race::all() {
        cases.push(raced(race)?);
    }
    for subject in steps::subjects()? {
        let (trace, expected) = steps::counted(&subject)?;
        cases.push(Case { expression: format!("stepped({trace})"), expected: expected.to_string() });
    }
    Ok(cases)
}

fn rule(addresses: &Addresses, bytes: u32, direction: Direction) -> Case {
    let cost = rules::shared_cost(addresses, bytes, direction);
    Case {
        expression: format!("cost({},{bytes},{})", json_list(addresses), direction.is_load()),
        expected: serde_json::json!([
            rules::sectors(addresses, bytes),
            rules::lanes_together(addresses, bytes, direction),
            cost.wavefronts,
            cost.ideal
        ])
        .to_string(),
    }
}

/// Makes a case of an order of two warps, with the result of the emulated GPU when it is forced into that order.
fn raced(race: Race) -> anyhow::Result<Case> {
    let Race { first, second, leader, lead } = race;
    let order = race.order();
    let sums = race::forced(&order).with_context(|| format!("{race:?}"))?;
    let whole: Vec<i64> = sums.into_iter().map(|sum| sum as i64).collect();
    Ok(Case {
        expression: format!("raced({{first:{first},second:{second},leader:{leader},lead:{lead}}})"),
        expected: serde_json::json!([order, whole]).to_string(),
    })
}

/// Returns access patterns, mostly at multiples of the width, as the hardware demands; the functions accept all.
fn patterns() -> Vec<(Addresses, u32)> {
    const RANDOM: usize = 200;
    let mut all = Vec::new();
    let mut numbers = SplitMix64(1);
    for bytes in [1u32, 2, 4, 8, 16] {
        let wide = u64::from(bytes);
        let every = |f: &dyn Fn(u64) -> Option<u64>| -> Addresses {
            std::array::from_fn(|lane| f(lane as u64).map(|element| element * wide))
        };
        // Strides, from every offset in a sector, with all lanes and with some.
        for stride in (0..=33).chain([48, 63, 64, 65, 128, 1000]) {
            all.push((every(&|lane| Some(lane * stride)), bytes));
            all.push((every(&|lane| Some(lane * stride + 1)), bytes));
            all.push((every(&|lane| (lane < 11).then_some(lane * stride + 7)), bytes));
        }
        // Groups of lanes at one address: broadcasts, pairs, every second.
        for group in [1, 2, 4, 8, 16] {
            for stride in [1, 2, 8, 32] {
                all.push((every(&|lane| Some(lane / group * stride)), bytes));
                all.push((every(&|lane| Some(lane % group * stride)), bytes));
            }
        }
        for distance in [1, 2, 3] {
            all.push((every(&|lane| Some((lane & !distance) * 4)), bytes));
            all.push((every(&|lane| (lane % 5 != 0).then_some((lane & !distance) * 8)), bytes));
        }
        all.push(([None; 32], bytes));
        for off in [1, 3, 4, 12, 28] {
            for apart in [4, 16, 32, 48, 128] {
                all.push((std::array::from_fn(|lane| Some(lane as u64 * apart + off)), bytes));
            }
        }
        // Random addresses, close together and far apart, with inactive lanes.
        for i in 0..RANDOM {
            let reach = [8, 64, 512, 1 << 20][i % 4];
            let holes = (i / 4) % 3;
            let mut addresses = [None; 32];
            for address in &mut addresses {
                let element = numbers.below(reach);
                if holes == 0 || numbers.below(3) >= holes {
                    *address = Some(element as u64 * wide);
                }
            }
            all.push((addresses, bytes));
        }
    }
    all
}

/// Adds accesses of real kernels, written as the explorers write them.
fn kernels(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    const SIZE: usize = 64;
    let tiles = [("transpose_tile", 0, false), ("transpose_padded", 1, false), ("transpose_swizzled", 0, true)];
    for (kernel, padding, swizzle) in tiles {
        for warp in [0, 1, 5, 31] {
            let position = WarpPosition { block: [0, 0], warp };
            let trace = machine::transpose(kernel, SIZE, position)?;
            for (direction, along) in [(Direction::Store, "row"), (Direction::Load, "column")] {
                let found = trace.first_shared("tile", direction)?;
                cases.push(Case {
                    expression: format!(
                        "R.tile({{bytes:4,width:32,padding:{padding},swizzle:{swizzle},along:\"{along}\",at:{warp}}})"
                    ),
                    expected: json_list(&found.addresses()),
                });
            }
        }
    }
    let shape = Shape::square(SIZE);
    let strided = [
        ("sgemm_v01_row_per_lane", 0, SIZE),
        ("sgemm_v01_row_per_lane", 1, 0),
        ("sgemm_v01_row_per_lane", 2, SIZE),
        ("sgemm_v01_col_per_lane", 0, 0),
        ("sgemm_v01_col_per_lane", 1, 1),
        ("sgemm_v01_col_per_lane", 2, 1),
    ];
    for (kernel, buffer, stride) in strided {
        let trace: Trace = machine::product(kernel, shape, FIRST)?;
        let accesses = trace.global(buffer);
        let first = accesses.first().context("it reaches all three matrices")?;
        cases.push(Case {
            expression: format!("R.strided({{bytes:4,stride:{stride},first:0,lanes:32}})"),
            expected: json_list(&first.addresses()),
        });
    }
    Ok(())
}

pub fn rules_js() -> anyhow::Result<String> {
    machine::read("book/theme/explorers/rules.js")
}

/// Returns the text of `checked.js` for rules that passed `n_cases` cases.
pub fn claim(rules: &str, n_cases: usize) -> String {
    let hash = catalog::provenance::sha256(rules.as_bytes());
    format!(
        "// made by: cargo run -p figures -- explorers; what rules.js was when it passed\n\
         window.TileChecked = {{ cases: {n_cases}, rules: \"sha256:{hash}\" }};\n"
    )
}

/// Returns a program that evaluates all cases with each text of the rules, and sets `verdicts`: a line for each.
fn program(rules: &[String], cases: &[Case]) -> String {
    let mut program = include_str!("explorers.js").to_owned();
    // Functions are compiled when they are called: none after the first disagreement.
    for (i, part) in cases.chunks(64).enumerate() {
        writeln!(program, "parts[{i}] = () => {{").expect("a string takes everything");
        for Case { expression, expected } in part {
            writeln!(program, "check(`{expression}`, {expression}, `{expected}`);").expect("a string takes everything");
        }
        program.push_str("};\n");
    }
    writeln!(program, "const verdicts = {}.map(judge).join(\"\\n\");", serde_json::json!(rules)).expect("it is text");
    program
}

/// A program that runs JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Node,
    /// A Chromium, such as `chromium` or `google-chrome`.
    Browser(&'static str),
}

impl Engine {
    /// Returns the engines that are installed.
    pub fn here() -> Vec<Self> {
        let runs = |name: &str| {
            let mut command = Command::new(name);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let browsers = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let node = runs("node").then_some(Self::Node);
        let browser = browsers.into_iter().find(|name| runs(name)).map(Self::Browser);
        node.into_iter().chain(browser).collect()
    }

    /// Evaluates all cases with `rules`, and returns their number.
    ///
    /// # Errors
    /// On the first disagreement, or when the engine cannot run.
    pub fn run(self, rules: &str, cases: &[Case], scratch: &Path) -> anyhow::Result<usize> {
        let [verdict] = &self.verdicts(&[rules.to_owned()], cases, scratch)?[..] else { bail!("not one verdict") };
        let n = verdict.strip_prefix("agreed ").and_then(|n| n.parse().ok());
        n.with_context(|| verdict.clone())
    }

    /// Evaluates all cases with each text of the rules; returns `agreed` and their number, or the first disagreement.
    ///
    /// # Errors
    /// When the engine cannot run, or a program throws.
    pub fn verdicts(self, rules: &[String], cases: &[Case], scratch: &Path) -> anyhow::Result<Vec<String>> {
        std::fs::create_dir_all(scratch).with_context(|| scratch.display().to_string())?;
        let program = program(rules, cases);
        let output = match self {
            Self::Node => {
                let file = scratch.join("cases.js");
                std::fs::write(&file, format!("{program}console.log(verdicts);\n"))?;
                Command::new("node").arg(&file).output()?
            }
            Self::Browser(name) => {
                let file = scratch.join("cases.html");
                let page = format!(
                    "<!doctype html><body><pre></pre><script>\n{program}document.querySelector(\"pre\").textContent = \
                     verdicts;\n</script>\n"
                );
                std::fs::write(&file, page)?;
                let file = file.canonicalize()?;
                Command::new(name)
                    .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
                    .arg(format!("--user-data-dir={}", scratch.join("profile").display()))
                    .arg(format!("file://{}", file.display()))
                    .output()?
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let text = text.split("<pre>").last().and_then(|rest| rest.split("</pre>").next()).unwrap_or_default();
        let verdicts: Vec<String> = text.lines().filter(|line| line.contains("agreed")).map(str::to_owned).collect();
        ensure!(verdicts.len() == rules.len(), "{self:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(verdicts)
    }
}
