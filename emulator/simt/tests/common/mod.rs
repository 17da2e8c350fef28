//! A small device for tests: load a kernel, give it buffers, look at what it leaves.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::num::{NonZeroU64, NonZeroUsize};

use simt::gpu::{Argument, Geometry, Gpu};
use simt::launch::{CheckLevel, LaunchOptions};
use simt::{module::Module, report::LaunchReport};

pub(crate) struct Device {
    pub(crate) gpu: Gpu,
    pub(crate) module: Module,
    pub(crate) check_level: CheckLevel,
    pub(crate) threads: usize,
    pub(crate) budget: u64,
}

pub(crate) fn header() -> &'static str {
    ".version 8.4\n.target sm_80\n.address_size 64\n"
}

impl Device {
    /// Loads a module; its text may leave out the header.
    #[track_caller]
    pub(crate) fn new(ptx: &str) -> Self {
        let gpu = Gpu::with_memory(1 << 32);
        let text = if ptx.contains(".version") { ptx.to_owned() } else { format!("{}{ptx}", header()) };
        let module = match gpu.load(&text) {
            Ok(module) => module,
            Err(error) => panic!("the module does not load: {error}"),
        };
        Self { gpu, module, check_level: CheckLevel::Checked, threads: 2, budget: 1 << 32 }
    }

    pub(crate) fn check_level(mut self, check_level: CheckLevel) -> Self {
        self.check_level = check_level;
        self
    }

    pub(crate) fn words(&self, words: &[u32]) -> u64 {
        self.gpu.upload(words)
    }

    /// Returns an unwritten buffer.
    pub(crate) fn raw(&self, bytes: u64) -> u64 {
        self.gpu.alloc::<u8>(bytes as usize)
    }

    pub(crate) fn read(&self, address: u64, n: usize) -> Vec<u32> {
        self.gpu.read(address, n)
    }

    /// Launches the module's first kernel.
    #[track_caller]
    pub(crate) fn launch(&self, shape: Geometry, arguments: &[Argument]) -> LaunchReport {
        let kernel = &self.module.kernels()[0];
        let options = LaunchOptions {
            check_level: self.check_level,
            threads: NonZeroUsize::new(self.threads),
            budget: NonZeroU64::new(self.budget),
            ..LaunchOptions::default()
        };
        let params = kernel.param_block(arguments).expect("its parameters");
        match self.gpu.launch(kernel, &shape.request(params, options)) {
            Ok(report) => report,
            Err(refused) => panic!("refused: {refused}"),
        }
    }

    #[track_caller]
    pub(crate) fn launch_line(&self, grid: u32, block: u32, arguments: &[Argument]) -> LaunchReport {
        self.launch(Geometry::line(grid, block), arguments)
    }

    /// Returns launches; asserts that nothing is found.
    #[track_caller]
    pub(crate) fn run(&self, grid: u32, block: u32, arguments: &[Argument]) -> LaunchReport {
        let report = self.launch_line(grid, block, arguments);
        assert_eq!(codes(&report), [""; 0], "{:#?}", report.mistakes);
        report
    }
}

pub(crate) fn codes(report: &LaunchReport) -> Vec<String> {
    let codes = report.mistakes.codes();
    codes.iter().map(|code| code.as_str().to_owned()).collect()
}
