//! Times of other libraries and compilers for the same GEMMs: `{{#others}}`, and `{{#n other BY SIZE WHAT}}` in a
//! sentence, where WHAT is `tflops` or `of_pytorch`, for bf16 `bf16_tflops` or `bf16_of_pytorch`.
//! `book/data/others.py` measures them.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use anyhow::{Context as _, Error, Result, bail};
use catalog::{files::files_ending_with, text::day};
use records::Samples;
use serde::Deserialize;

use crate::quote::{Sources, digits, quoted_from};
use crate::{RepoPaths, markdown::Table};

/// Default of [`Time::numbers`].
const FP32: &str = "fp32";
const BF16: &str = "bf16";
const PYTORCH: &str = "PyTorch";

/// Measurements of the book's main device, and of the device with the most of bf16.
#[derive(Debug)]
pub(crate) struct OtherLibraries {
    main: File,
    bf16: File,
}

/// Contents of `book/data/h200-others.json`, or of the same file for another device.
#[derive(Debug, Deserialize)]
struct File {
    #[serde(flatten)]
    run: Run,
    /// The run that measured bf16, if it was a separate one.
    bf16: Option<Run>,
    cublas: Option<String>,
    kernels: Vec<TimedGemm>,
    times: Vec<Time>,
}

#[derive(Debug, Deserialize)]
struct Run {
    date: String,
    device: String,
    torch: String,
    triton: String,
    cutlass: Option<String>,
    /// A revision, because the project has no versions.
    thunderkittens: Option<String>,
}

/// Kernels that cuBLAS launched for a GEMM.
#[derive(Debug, Deserialize)]
struct TimedGemm {
    /// Timed function: `sgemm` or `dgemm`.
    function: String,
    shape: [usize; 3],
    kernels: Vec<LaunchedKernel>,
}

#[derive(Debug, Deserialize)]
struct LaunchedKernel {
    name: String,
    grid: [u32; 3],
    block: [u32; 3],
}

/// Time of a square GEMM.
#[derive(Debug, Deserialize)]
struct Time {
    /// Library or compiler, such as `PyTorch` or `Triton`; `v12` for a kernel of this book.
    by: String,
    size: usize,
    /// Type of the elements of A, B and C: `fp32` or `bf16`.
    #[serde(default = "fp32")]
    numbers: String,
    /// Largest error as a fraction of the bound.
    of_bound: f64,
    /// M and N of the tile of C, the step along K, warps per block, pipeline stages.
    config: Option<[u32; 5]>,
    /// Rest of the configuration, in the words of the implementation's authors.
    how: Option<String>,
    /// Name of a kernel of this book.
    kernel: Option<String>,
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

    fn implementation(&self) -> String {
        let mut text = self.by.clone();
        if let Some(how) = &self.how {
            let _ = write!(text, ", {how}");
        }
        if let Some(kernel) = &self.kernel {
            let _ = write!(text, ", `{kernel}`");
        }
        text
    }
}

impl Run {
    fn source(&self) -> String {
        format!("{}, {}", self.device, day(&self.date))
    }

    fn versions(&self) -> String {
        let mut text = format!("PyTorch {}, Triton {}", self.torch, self.triton);
        if let Some(version) = &self.cutlass {
            let _ = write!(text, ", CUTLASS {version}");
        }
        if let Some(revision) = &self.thunderkittens {
            let _ = write!(text, ", ThunderKittens at revision {revision}");
        }
        text
    }
}

impl OtherLibraries {
    pub(crate) fn load(repo: &RepoPaths, main_device: &str) -> Result<Self> {
        let path = repo.data().join(format!("{main_device}-others.json"));
        let files = files_ending_with(&repo.data(), "-others.json")?;
        let files: Vec<File> = files.iter().map(|file| repo.read_json(file)).collect::<Result<_>>()?;
        let n_bf16 = |file: &File| file.times.iter().filter(|time| time.numbers == BF16).count();
        let main: File = repo.read_json(&path)?;
        Ok(Self { main, bf16: files.into_iter().max_by_key(n_bf16).context("no file ends with -others.json")? })
    }

    /// Returns the device that this type of elements was measured on.
    fn of_numbers(&self, numbers: &str) -> &File {
        if numbers == BF16 { &self.bf16 } else { &self.main }
    }

    fn run(&self, numbers: &str) -> &Run {
        let found = self.of_numbers(numbers);
        let apart = found.bf16.as_ref().filter(|_| numbers == BF16);
        apart.unwrap_or(&found.run)
    }

    /// Expands `{{#others times}}`, `{{#others times bf16}}`, `{{#others kernels}}`.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String> {
        let (numbers, table) = match args {
            ["times"] => (FP32, self.times(FP32, "FP32")),
            ["times", BF16] => (BF16, self.times(BF16, BF16)),
            ["kernels"] => (FP32, self.kernels()),
            _ => return Err(Error::msg("`{{#others}}` wants `times`, `times bf16` or `kernels`")),
        };
        sources.insert(self.run(numbers).source());
        Ok(table)
    }

    /// Returns the table of times for a type of elements; `called` is its name in text.
    fn times(&self, numbers: &str, called: &str) -> String {
        let run = self.run(numbers);
        let mut table = Table::new(
            "size | by | >time, ms | >TFLOP/s | tile of C, step of K | >warps | >stages | >error, of the bound",
        );
        for time in self.of_numbers(numbers).times.iter().filter(|time| time.numbers == numbers) {
            let [tile, warps, stages] = match time.config {
                Some([m, n, k, warps, stages]) => [format!("{m} × {n}, {k}"), warps.to_string(), stages.to_string()],
                None => ["–"; 3].map(str::to_owned),
            };
            let [ms, tflops] = [time.ms.median(), time.tflops()].map(|number| digits(number, 3));
            let error = format!("{:.2} %", 100.0 * time.of_bound);
            table.row(&[&time.size, &time.implementation(), &ms, &tflops, &tile, &warps, &stages, &error]);
        }
        format!(
            "C = A·B in {called}, {}. Kernel time with warm caches, by graph: the median. {}.\n\n{table}",
            run.source(),
            run.versions(),
        )
    }

    fn times_of<'a>(&'a self, by: &str, numbers: &str) -> impl Iterator<Item = &'a Time> {
        self.of_numbers(numbers).times.iter().filter(move |time| time.by == by && time.numbers == numbers)
    }

    fn time_at(&self, by: &str, numbers: &str, size: &str) -> Result<&Time> {
        self.times_of(by, numbers)
            .find(|time| time.size.to_string() == size)
            .with_context(|| format!("{by} at {size} was not measured in {numbers} by book/data/others.py"))
    }

    fn kernels(&self) -> String {
        let mut table = Table::new("product | M × N × K | kernel | >blocks | >threads");
        for product in &self.main.kernels {
            let [m, n, k] = product.shape;
            let shape = if m == n && n == k { m.to_string() } else { format!("{m} × {n} × {k}") };
            for kernel in &product.kernels {
                let blocks = kernel.grid.map(|n| n.to_string()).join(" × ");
                let threads: u32 = kernel.block.iter().product();
                let [function, kernel] = [&product.function, short_name(&kernel.name)].map(|name| format!("`{name}`"));
                table.row(&[&function, &shape, &kernel, &blocks, &threads]);
            }
        }
        let version = self.main.cublas.as_deref().unwrap_or_default();
        format!("What cuBLAS {version} launched, {}.\n\n{table}", self.main.run.source())
    }

    pub(crate) fn number(&self, [by, size, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
        let (numbers, what) = what.strip_prefix("bf16_").map_or((FP32, what), |what| (BF16, what));
        let found = self.time_at(by, numbers, size)?;
        let text = match what {
            "tflops" => format!("{} TFLOP/s", digits(found.tflops(), 3)),
            "of_pytorch" => {
                let pytorch = self.time_at(PYTORCH, numbers, size)?;
                format!("{} %", digits(100.0 * found.tflops() / pytorch.tflops(), 3))
            }
            _ => bail!("{by} has tflops and of_pytorch, not `{what}`"),
        };
        Ok(quoted_from(self.run(numbers).source(), &text, &format!("{by} at {size} in {numbers}"), sources))
    }
}

/// Shortens a kernel's name: a template to its argument, any other name by the suffix that all cuBLAS kernels have.
fn short_name(name: &str) -> &str {
    match name.split_once('<') {
        Some((_, inside)) => inside.split(['>', '(']).next().unwrap_or(name),
        None => name.strip_suffix("__5x_cublas").unwrap_or(name),
    }
}
