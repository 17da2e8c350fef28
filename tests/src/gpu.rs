//! An emulated GPU for tests: [`simt::gpu`] with launches by name, and messages for what goes wrong.

use std::ops::{Deref, DerefMut};

use diagnostics::Report;
use simt::check::Code;
use simt::launch::{LaunchOptions, Watch};
use simt::module::{LoadedKernel, Module};

pub use simt::gpu::{Argument, Shape, Value};

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

impl Gpu {
    pub fn with_memory(bytes: u64) -> Self {
        Self(simt::gpu::Gpu::with_memory(bytes))
    }

    pub fn launch(
        &self,
        module: &Module,
        name: &str,
        shape: Shape,
        arguments: &[Argument],
        options: LaunchOptions,
    ) -> Result<Report, String> {
        let loaded = module.kernel(name).ok_or_else(|| format!("no kernel `{name}`"))?;
        let params = simt::gpu::Gpu::params(loaded.kernel(), arguments).map_err(|error| error.to_string())?;
        self.launch_raw(loaded, shape, params, options)
    }

    /// Launches a kernel with bytes for parameters, right or wrong.
    pub fn launch_raw(
        &self,
        kernel: &LoadedKernel,
        shape: Shape,
        params: Vec<u8>,
        options: LaunchOptions,
    ) -> Result<Report, String> {
        self.launch_raw_with_codes(kernel, shape, params, options).map(|(report, _)| report)
    }

    /// Launches like [`Self::launch_raw`], and returns also the codes of all mistakes: a report leaves out those that
    /// follow from another one.
    pub fn launch_raw_with_codes(
        &self,
        kernel: &LoadedKernel,
        shape: Shape,
        params: Vec<u8>,
        options: LaunchOptions,
    ) -> Result<(Report, Vec<Code>), String> {
        let config = shape.config(params, options);
        match self.0.launch(kernel, &config) {
            Ok(report) => {
                let codes = report.mistakes.codes();
                Ok((Report::new(report, kernel, &config), codes))
            }
            Err(refused) => Err(diagnostics::refusal(kernel.kernel(), &config, &refused)),
        }
    }

    /// Launches with all checks on, and panics at a finding.
    pub fn run(&self, module: &Module, name: &str, shape: Shape, arguments: &[Argument]) -> Report {
        let options =
            LaunchOptions { watch: Watch::CheckedGlobalRaces, budget: 1 << 32, ..LaunchOptions::default() };
        let report = match self.launch(module, name, shape, arguments, options) {
            Ok(report) => report,
            Err(refused) => panic!("{name}: {refused}"),
        };
        let texts: Vec<&str> = report.findings.iter().map(|f| f.text.as_str()).collect();
        assert!(texts.is_empty(), "{name}:\n{}", texts.join("\n"));
        report
    }
}
