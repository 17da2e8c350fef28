//! What others do with the same products: `{{#others}}`, and `{{#n other BY SIZE WHAT}}` in a sentence. Measured by
//! `book/data/others.py`.

use std::fmt::Write as _;

use ladder::Samples;
use serde::Deserialize;

use crate::House;
use crate::records::{Sources, digits, number};

/// What [`Time::numbers`] are where nothing else is said.
const FP32: &str = "fp32";

/// Contents of `book/data/h200-others.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Others {
    date: String,
    device: String,
    torch: String,
    triton: String,
    cublas: String,
    kernels: Vec<Product>,
    times: Vec<Time>,
}

/// What cuBLAS ran for a product.
#[derive(Debug, Deserialize)]
struct Product {
    /// The function that was timed: `sgemm` or `dgemm`.
    function: String,
    shape: [usize; 3],
    kernels: Vec<Launched>,
}

/// One kernel of it.
#[derive(Debug, Deserialize)]
struct Launched {
    name: String,
    grid: [u32; 3],
    block: [u32; 3],
}

/// A square product.
#[derive(Debug, Deserialize)]
struct Time {
    /// The library or compiler: `PyTorch` or `Triton`.
    by: String,
    size: usize,
    /// Elements of A, B and C: `fp32` or `bf16`.
    #[serde(default = "fp32")]
    numbers: String,
    /// Its largest error as a part of the bound.
    of_bound: f64,
    /// A tile of C, a step of K, warps of a block, stages.
    config: Option<[u32; 5]>,
    ms: Samples,
}

fn fp32() -> String {
    FP32.into()
}

impl Time {
    fn tflops(&self) -> f64 {
        let n = self.size as f64;
        2.0 * n * n * n / self.ms.median() / 1e9
    }
}

impl Others {
    /// What was measured on the device that the text is about.
    ///
    /// # Errors
    /// When there is no such file, or it is something else.
    pub(crate) fn load(house: &House, told: &str) -> Result<Self, String> {
        let path = house.data().join(format!("{told}-others.json"));
        let text = house.read(&path)?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", house.shown(&path)))
    }

    fn source(&self) -> String {
        let day = self.date.split('T').next().unwrap_or(&self.date);
        format!("{}, {day}", self.device)
    }

    /// `{{#others times}}`, `{{#others times bf16}}`, `{{#others kernels}}`
    ///
    /// # Errors
    /// When something else is asked for.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String, String> {
        sources.insert(self.source());
        match args {
            ["times"] => Ok(self.times(FP32, "FP32")),
            ["times", "bf16"] => Ok(self.times("bf16", "bf16")),
            ["kernels"] => Ok(self.kernels()),
            _ => Err("`{{#others}}` wants `times`, `times bf16` or `kernels`".into()),
        }
    }

    /// Of products of such numbers, and what they are called.
    fn times(&self, numbers: &str, called: &str) -> String {
        let mut times = self
            .times
            .iter()
            .filter(|time| time.numbers == numbers)
            .peekable();
        if times.peek().is_none() {
            return format!(
                "Products in {called} were not measured yet. On a machine with PyTorch and Triton this does it:\n\n\
                 ```console\n$ python3 book/data/others.py book/data/h200-others.json\n```\n"
            );
        }
        let mut out = format!(
            "C = A·B in {called}, {}. Kernel time with warm caches, by graph: the median. PyTorch {}, Triton {}.\n\n\
             | size | by | time, ms | TFLOP/s | tile of C, step of K | warps | stages | error, of the bound |\n\
             | --- | --- | ---: | ---: | --- | ---: | ---: | ---: |\n",
            self.source(),
            self.torch,
            self.triton
        );
        for time in times {
            let [tile, warps, stages] = match time.config {
                Some([m, n, k, warps, stages]) => {
                    [format!("{m} × {n}, {k}"), warps.to_string(), stages.to_string()]
                }
                None => ["–"; 3].map(str::to_owned),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {tile} | {warps} | {stages} | {:.2} % |",
                time.size,
                time.by,
                digits(time.ms.median(), 3),
                digits(time.tflops(), 3),
                100.0 * time.of_bound
            );
        }
        out
    }

    fn kernels(&self) -> String {
        let mut out = format!(
            "What cuBLAS {} launched, {}.\n\n| product | M × N × K | kernel | blocks | threads |\n| --- | --- | --- | ---: | ---: |\n",
            self.cublas,
            self.source()
        );
        for product in &self.kernels {
            let [m, n, k] = product.shape;
            let shape = match m == n && n == k {
                true => m.to_string(),
                false => format!("{m} × {n} × {k}"),
            };
            for kernel in &product.kernels {
                let blocks = kernel.grid.map(|n| n.to_string()).join(" × ");
                let threads: u32 = kernel.block.iter().product();
                let _ = writeln!(
                    out,
                    "| `{}` | {shape} | `{}` | {blocks} | {threads} |",
                    product.function,
                    short(&kernel.name)
                );
            }
        }
        out
    }

    /// One number, as words for a sentence.
    ///
    /// # Errors
    /// When it was not measured.
    pub(crate) fn number(
        &self,
        by: &str,
        size: &str,
        what: &str,
        sources: &mut Sources,
    ) -> Result<String, String> {
        let found = self
            .times
            .iter()
            .find(|time| time.by == by && time.numbers == FP32 && time.size.to_string() == size)
            .ok_or_else(|| format!("{by} at {size} was not measured by book/data/others.py"))?;
        let text = match what {
            "ms" => format!("{} ms", digits(found.ms.median(), 3)),
            "tflops" => format!("{} TFLOP/s", digits(found.tflops(), 3)),
            _ => return Err(format!("of {by} there are ms and tflops, not `{what}`")),
        };
        sources.insert(self.source());
        Ok(number(&text, &format!("{by} at {size}, {}", self.source())))
    }
}

/// Of a template, what it is made with; else the name, without the mark of the build that is the same in all.
fn short(name: &str) -> &str {
    match name.split_once('<') {
        Some((_, inside)) => inside.split(['>', '(']).next().unwrap_or(name),
        None => name.strip_suffix("__5x_cublas").unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ladder::{Record, Shape};

    use super::*;

    fn data() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")
    }

    #[test]
    fn others_were_measured_where_the_ladder_was() {
        let text = std::fs::read_to_string(data().join("h200-others.json")).expect("a file");
        let others: Others = serde_json::from_str(&text).expect("what others.py writes");
        let record = Record::load(&data().join("h200.json")).expect("a record");
        assert!(record.runs.iter().all(|run| run.device == others.device));
        let products = record.measurements.iter().filter(|m| m.kernel == "cublas_sgemm");
        let mut n = 0;
        for product in products {
            let run = record.run_of(product).expect("its run");
            assert_eq!(run.cublas.as_deref(), Some(others.cublas.as_str()));
            let Shape { m, n: cols, k } = product.shape;
            let of = |one: &&Product| one.function == "sgemm" && one.shape == [m, cols, k];
            let found = others.kernels.iter().find(of).expect("every shape on record");
            assert!(!found.kernels.is_empty(), "{}", product.shape);
            n += 1;
        }
        assert!(n >= 13, "{n} products");
        for time in &others.times {
            assert!(
                time.of_bound < 1.0 && time.ms.0.len() >= 5,
                "{} {}",
                time.by,
                time.size
            );
        }
    }

    #[test]
    fn what_was_not_measured_says_how_to() {
        let mut others: Others = serde_json::from_str(
            r#"{"date": "2026-01-02T00:00:00Z", "device": "A Card", "torch": "2", "triton": "3", "cublas": "13", "kernels": [],
            "times": [{"by": "PyTorch", "size": 1000, "of_bound": 0.1, "ms": [2.0]}]}"#,
        )
        .expect("what others.py writes");
        let table = |others: &Others| {
            others
                .table(&["times", "bf16"], &mut Sources::new())
                .expect("a table")
        };
        assert!(table(&others).contains("not measured yet") && table(&others).contains("others.py"));
        others.times[0].numbers = "bf16".into();
        assert!(
            table(&others).contains("| 1000 | PyTorch | 2.00 | 1.00 |"),
            "{}",
            table(&others)
        );
    }

    #[test]
    fn names_of_templates_are_those_of_their_arguments() {
        assert_eq!(
            short("void a::Kernel2<b_256x128>(b_256x128::Params)"),
            "b_256x128"
        );
        assert_eq!(
            short("gemm_ffma_execute_kernel__5x_cublas"),
            "gemm_ffma_execute_kernel"
        );
    }
}
