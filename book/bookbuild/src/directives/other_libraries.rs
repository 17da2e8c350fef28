//! Times of other libraries and compilers for the same GEMMs: `{{#others}}`, and `{{#n other BY SIZE WHAT}}` in a
//! sentence, where WHAT is `tflops` or `of_pytorch`, for bf16 `bf16_tflops` or `bf16_of_pytorch`.
//! `book/data/others.py` measures them.

use std::fmt::Write as _;

use anyhow::{Context as _, Error, Result, bail};
use catalog::files::files_ending_with;
use catalog::text::day;
use records::Samples;
use serde::Deserialize;

use crate::RepoPaths;
use crate::quote::{Sources, digits, quoted};

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
        let mut out = format!(
            "C = A·B in {called}, {}. Kernel time with warm caches, by graph: the median. {}.\n\n\
             | size | by | time, ms | TFLOP/s | tile of C, step of K | warps | stages | error, of the bound |\n\
             | --- | --- | ---: | ---: | --- | ---: | ---: | ---: |\n",
            run.source(),
            run.versions(),
        );
        for time in self.of_numbers(numbers).times.iter().filter(|time| time.numbers == numbers) {
            let [tile, warps, stages] = match time.config {
                Some([m, n, k, warps, stages]) => [format!("{m} × {n}, {k}"), warps.to_string(), stages.to_string()],
                None => ["–"; 3].map(str::to_owned),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {tile} | {warps} | {stages} | {:.2} % |",
                time.size,
                time.implementation(),
                digits(time.ms.median(), 3),
                digits(time.tflops(), 3),
                100.0 * time.of_bound
            );
        }
        out
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
        let mut out = format!(
            "What cuBLAS {} launched, {}.\n\n| product | M × N × K | kernel | blocks | threads |\n| --- | --- | --- | ---: | ---: |\n",
            self.main.cublas.as_deref().unwrap_or_default(),
            self.main.run.source()
        );
        for product in &self.main.kernels {
            let [m, n, k] = product.shape;
            let shape = if m == n && n == k { m.to_string() } else { format!("{m} × {n} × {k}") };
            for kernel in &product.kernels {
                let blocks = kernel.grid.map(|n| n.to_string()).join(" × ");
                let threads: u32 = kernel.block.iter().product();
                let _ = writeln!(
                    out,
                    "| `{}` | {shape} | `{}` | {blocks} | {threads} |",
                    product.function,
                    short_name(&kernel.name)
                );
            }
        }
        out
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
            _ => {
                bail!("{by} has tflops and of_pytorch, not `{what}`");
            }
        };
        let source = self.run(numbers).source();
        let about = quoted(&text, &format!("{by} at {size} in {numbers}, {source}"));
        sources.insert(source);
        Ok(about)
    }
}

/// Shortens a kernel's name: a template to its argument, any other name by the suffix that all cuBLAS kernels have.
fn short_name(name: &str) -> &str {
    match name.split_once('<') {
        Some((_, inside)) => inside.split(['>', '(']).next().unwrap_or(name),
        None => name.strip_suffix("__5x_cublas").unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use catalog::{STEPS, Shape};
    use records::Record;

    use super::*;

    fn data() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")
    }

    #[test]
    fn others_were_measured_where_the_ladder_was() {
        let text = std::fs::read_to_string(data().join("h200-others.json")).expect("a file");
        let others: File = serde_json::from_str(&text).expect("what others.py writes");
        let record = Record::load(&data().join("h200.json")).expect("a record");
        assert!(record.runs.iter().all(|run| run.device == others.run.device));
        let products = record.measurements.iter().filter(|m| m.kernel == "cublas_sgemm");
        let mut n = 0;
        for product in products {
            let run = record.run_of(product).expect("its run");
            assert_eq!(run.cublas.as_deref(), others.cublas.as_deref());
            let Shape { m, n: cols, k } = product.shape;
            let of = |one: &&TimedGemm| one.function == "sgemm" && one.shape == [m, cols, k];
            let found = others.kernels.iter().find(of).expect("every shape on record");
            assert!(!found.kernels.is_empty(), "{}", product.shape);
            n += 1;
        }
        assert!(n >= 13, "{n} products");
        for time in &others.times {
            assert!(time.of_bound < 1.0 && time.ms.0.len() >= 5, "{} {}", time.by, time.size);
        }
    }

    #[test]
    fn products_in_bf16_say_what_they_are_of() {
        let repo = RepoPaths::new(data().join("../.."));
        let others = OtherLibraries::load(&repo, "h200").expect("what others.py writes");
        let run = others.run(BF16);
        assert_eq!(run.device, others.of_numbers(BF16).run.device);
        for (by, version) in [("CUTLASS", &run.cutlass), ("ThunderKittens", &run.thunderkittens)] {
            assert!(version.is_some() || others.times_of(by, BF16).next().is_none(), "{by}");
        }
        for time in others.times_of("v12", BF16) {
            let name = time.kernel.as_deref().expect("its kernel");
            assert!(STEPS.iter().any(|step| step.kernel(name).is_some()), "{name}");
        }
        // Every compared implementation is measured at each size.
        let squares = others.times_of(PYTORCH, BF16).count();
        for by in ["CUTLASS", "ThunderKittens", "v12"] {
            assert_eq!(others.times_of(by, BF16).count(), squares, "{by}");
        }
    }

    #[test]
    fn what_was_measured_apart_has_its_own_day_and_versions() {
        let fp32 = r#"{"date": "2026-01-02T00:00:00Z", "device": "A Card", "torch": "2", "triton": "3", "cublas": "13",
            "kernels": [], "times": [{"by": "PyTorch", "size": 1000, "of_bound": 0.1, "ms": [2.0]}]}"#;
        let [main, mut bf16] = [fp32; 2].map(|text| serde_json::from_str::<File>(text).expect("what others.py writes"));
        let run = r#"{"date": "2026-03-04T00:00:00Z", "device": "A Card", "torch": "2.1", "triton": "3.1",
            "cutlass": "4.5", "thunderkittens": "abc", "missing": []}"#;
        bf16.bf16 = serde_json::from_str(run).expect("what others.py writes");
        let times = r#"[
            {"by": "PyTorch", "size": 1000, "numbers": "bf16", "of_bound": 0.1, "ms": [4.0]},
            {"by": "CUTLASS", "size": 1000, "numbers": "bf16", "of_bound": 0.1, "ms": [5.0],
             "config": [128, 256, 64, 12, 4], "how": "pingpong, clusters of 2 × 1, swizzle 8"},
            {"by": "v12", "size": 1000, "numbers": "bf16", "of_bound": 0.1, "ms": [8.0],
             "config": [128, 128, 64, 9, 6], "kernel": "gemm_v12_ping_pong_bf16", "ptx_sha256": "0"}]"#;
        let times: Vec<Time> = serde_json::from_str(times).expect("what others.py writes");
        bf16.times.extend(times);
        let others = OtherLibraries { main, bf16 };
        let shown = others.table(&["times", "bf16"], &mut Sources::new()).expect("a table");
        for part in [
            "A Card, 2026-03-04. Kernel",
            "PyTorch 2.1, Triton 3.1, CUTLASS 4.5, ThunderKittens at revision abc.",
            "| CUTLASS, pingpong, clusters of 2 × 1, swizzle 8 | 5.00 | 0.400 | 128 × 256, 64 | 12 | 4 | 10.00 % |",
            "| v12, `gemm_v12_ping_pong_bf16` | 8.00 | 0.250 | 128 × 128, 64 | 9 | 6 | 10.00 % |",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        let number = |by: &str, what: &str| {
            let mut sources = Sources::new();
            others
                .number([by, "1000", what], &mut sources)
                .map(|text| (text, sources.into_iter().collect::<Vec<_>>().join("; ")))
        };
        let check = |by, what, value: &str, source: &str| {
            let (text, sources) = number(by, what).expect("a number");
            assert!(text.contains(value), "{by} {what}: {text}");
            assert_eq!(sources, source, "{by} {what}");
        };
        check("PyTorch", "tflops", "1.00", "A Card, 2026-01-02");
        check("v12", "bf16_tflops", "0.250", "A Card, 2026-03-04");
        check("CUTLASS", "bf16_of_pytorch", "80.0", "A Card, 2026-03-04");
        number("CUTLASS", "tflops").expect_err("FP32 is not there");
        number("v12", "bf16_clock").expect_err("no such thing");
    }

    #[test]
    fn names_of_templates_are_those_of_their_arguments() {
        assert_eq!(short_name("void a::Kernel2<b_256x128>(b_256x128::Params)"), "b_256x128");
        assert_eq!(short_name("gemm_ffma_execute_kernel__5x_cublas"), "gemm_ffma_execute_kernel");
    }
}
