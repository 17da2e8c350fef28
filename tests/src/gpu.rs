//! An emulated GPU for tests: [`simt::gpu`] with launches by name, and messages for what goes wrong.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::{Deref, DerefMut};

use diagnostics::{Finding, Report};
use simt::check::Code;
use simt::launch::{CheckLevel, LaunchOptions};
use simt::module::{LoadedKernel, Module};

pub use simt::gpu::{Argument, Geometry, Value};

/// Returns the options of a launch that ends after so many thread-instructions, and runs on this number of threads; 0
/// stands for one per core.
pub fn options(check_level: CheckLevel, budget: u64, threads: usize) -> LaunchOptions {
    let (budget, threads) = (NonZeroU64::new(budget), NonZeroUsize::new(threads));
    LaunchOptions { check_level, budget, threads, ..LaunchOptions::default() }
}

/// [`simt::gpu::Gpu`] whose launches name the kernel and end in a report or in the text of the refusal.
#[derive(Debug, Default)]
pub struct Gpu(simt::gpu::Gpu);

impl Deref for Gpu {
    type Target = simt::gpu::Gpu;

    fn deref(&self) -> &simt::gpu::Gpu {
        &self.0
    }
}

impl DerefMut for Gpu {
    fn deref_mut(&mut self) -> &mut simt::gpu::Gpu {
        &mut self.0
    }
}

pub fn texts(findings: &[Finding]) -> String {
    let texts: Vec<&str> = findings.iter().map(|finding| finding.text.as_str()).collect();
    texts.join("\n")
}

/// Fails with the text of the first finding.
pub fn clean(report: Report) -> Result<Report, String> {
    match report.findings.first() {
        Some(finding) => Err(finding.text.clone()),
        None => Ok(report),
    }
}

impl Gpu {
    pub fn with_memory(bytes: u64) -> Self {
        Self(simt::gpu::Gpu::with_memory(bytes))
    }

    pub fn launch(
        &self, module: &Module, name: &str, shape: Geometry, arguments: &[Argument], options: LaunchOptions,
    ) -> Result<Report, String> {
        let loaded = module.kernel(name).ok_or_else(|| format!("no kernel `{name}`"))?;
        let params = loaded.param_block(arguments).map_err(|error| error.to_string())?;
        self.launch_raw(loaded, shape, params, options).map(|(report, _)| report)
    }

    /// Launches a kernel with bytes for parameters, right or wrong, and returns also the codes of all mistakes: a
    /// report leaves out those that follow from another one.
    pub fn launch_raw(
        &self, kernel: &LoadedKernel, shape: Geometry, params: Vec<u8>, options: LaunchOptions,
    ) -> Result<(Report, Vec<Code>), String> {
        let request = shape.request(params, options);
        match self.0.launch(kernel, &request) {
            Ok(report) => {
                let codes = report.mistakes.codes();
                Ok((Report::new(report, kernel, &request), codes))
            }
            Err(refused) => Err(diagnostics::refusal(kernel.kernel(), &request, &refused).text),
        }
    }

    /// Returns the words that the kernel `steps` of a module sees in 32 threads of each block, or the first finding. It
    /// gets global memory with these words, and room for `seen`.
    pub fn steps(
        module: &str, memory: &[u32], seen: &[u32], grid: [u32; 3], options: LaunchOptions,
    ) -> Result<Vec<u32>, String> {
        let gpu = Self::default();
        let (words, out) = (gpu.upload(memory), gpu.upload(seen));
        let loaded = gpu.load(module).map_err(|error| error.to_string())?;
        let shape = Geometry { grid, block: [32, 1, 1], dynamic_shared: 0 };
        clean(gpu.launch(&loaded, "steps", shape, &[words.into(), out.into()], options)?)?;
        Ok(gpu.read(out, seen.len()))
    }

    /// Launches with all checks on, and panics at a finding.
    pub fn run(&self, module: &Module, name: &str, shape: Geometry, arguments: &[Argument]) -> Report {
        let options = options(CheckLevel::CheckedWithGlobalRaces, 1 << 32, 0);
        let report = match self.launch(module, name, shape, arguments, options) {
            Ok(report) => report,
            Err(refused) => panic!("{name}: {refused}"),
        };
        assert!(report.findings.is_empty(), "{name}:\n{}", texts(&report.findings));
        report
    }
}
