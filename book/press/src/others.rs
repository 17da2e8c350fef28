//! What others do with the same products: `{{#others}}`, and `{{#n other BY SIZE WHAT}}` in a sentence. Measured by
//! `book/data/others.py`.

use std::fmt::Write as _;

use ladder::Samples;
use serde::Deserialize;

use crate::House;
use crate::records::{Sources, number};

/// `book/data/h200-others.json`
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
    /// `sgemm`, `dgemm`
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

/// A square product in FP32.
#[derive(Debug, Deserialize)]
struct Time {
    /// `PyTorch`, `Triton`
    by: String,
    size: usize,
    /// Its largest error as a part of the bound.
    of_bound: f64,
    /// A tile of C, a step of K, warps of a block, stages.
    config: Option<[u32; 5]>,
    ms: Samples,
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

    /// `{{#others times}}`, `{{#others kernels}}`
    ///
    /// # Errors
    /// When something else is asked for.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String, String> {
        sources.insert(self.source());
        match args {
            ["times"] => Ok(self.times()),
            ["kernels"] => Ok(self.kernels()),
            _ => Err("`{{#others}}` wants `times` or `kernels`".into()),
        }
    }

    fn times(&self) -> String {
        let mut out = format!(
            "C = A·B in FP32, {}. Kernel time with warm caches, by graph: the median. PyTorch {}, Triton {}.\n\n\
             | size | by | time, ms | TFLOP/s | tile of C, step of K | warps | stages | error, of the bound |\n\
             | --- | --- | ---: | ---: | --- | ---: | ---: | ---: |\n",
            self.source(),
            self.torch,
            self.triton
        );
        for time in &self.times {
            let [tile, warps, stages] = match time.config {
                Some([m, n, k, warps, stages]) => {
                    [format!("{m} × {n}, {k}"), warps.to_string(), stages.to_string()]
                }
                None => ["–"; 3].map(str::to_owned),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {tile} | {warps} | {stages} | {:.3} |",
                time.size,
                time.by,
                figures(time.ms.median()),
                figures(time.tflops()),
                time.of_bound
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
                let blocks: u32 = kernel.grid.iter().product();
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
            .find(|time| time.by == by && time.size.to_string() == size)
            .ok_or_else(|| format!("{by} at {size} was not measured by book/data/others.py"))?;
        let text = match what {
            "ms" => format!("{} ms", figures(found.ms.median())),
            "tflops" => format!("{} TFLOP/s", figures(found.tflops())),
            _ => return Err(format!("of {by} there are ms and tflops, not `{what}`")),
        };
        sources.insert(self.source());
        Ok(number(&text, &format!("{by} at {size}, {}", self.source())))
    }
}

/// The name of a template without what it is made with.
fn short(name: &str) -> &str {
    let name = name.strip_prefix("void ").unwrap_or(name);
    name.split(['<', '(']).next().unwrap_or(name)
}

/// Three figures.
fn figures(number: f64) -> String {
    let before = number.abs().log10().floor() as i32 + 1;
    format!("{number:.*}", usize::try_from(3 - before).unwrap_or(0))
}
