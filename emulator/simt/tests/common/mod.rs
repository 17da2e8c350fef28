//! A small device for tests: load a kernel, give it buffers, look at what it leaves.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use simt::launch::{CheckLevel, Environment, LaunchConfig, LaunchOptions};
use simt::memory::{Memory, Origin};
use simt::module::Module;
use simt::report::LaunchReport;
use simt::texture::Textures;

pub(crate) struct Device {
    pub(crate) memory: Arc<Memory>,
    pub(crate) module: Module,
    pub(crate) check_level: CheckLevel,
    pub(crate) threads: usize,
    pub(crate) budget: u64,
}

/// The first lines of a module.
pub(crate) fn header() -> &'static str {
    ".version 8.4\n.target sm_80\n.address_size 64\n"
}

impl Device {
    /// Loads a module; its text may leave out the header.
    #[track_caller]
    pub(crate) fn new(ptx: &str) -> Self {
        let memory = Arc::new(Memory::new(1 << 32));
        let text = if ptx.contains(".version") { ptx.to_owned() } else { format!("{}{ptx}", header()) };
        let module = match Module::load(&memory, &text, None) {
            Ok(module) => module,
            Err(error) => panic!("the module does not load: {error}"),
        };
        Self { memory, module, check_level: CheckLevel::On, threads: 2, budget: 1 << 32 }
    }

    pub(crate) fn check_level(mut self, check_level: CheckLevel) -> Self {
        self.check_level = check_level;
        self
    }

    pub(crate) fn words(&self, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let address = self.memory.alloc(bytes.len() as u64, Origin::new("test")).expect("there is room");
        self.memory.write(address, &bytes).expect("in range");
        address
    }

    pub(crate) fn floats(&self, floats: &[f32]) -> u64 {
        self.words(&floats.iter().map(|f| f.to_bits()).collect::<Vec<_>>())
    }

    /// A buffer that nobody has written.
    pub(crate) fn raw(&self, bytes: u64) -> u64 {
        self.memory.alloc(bytes, Origin::new("test")).expect("there is room")
    }

    pub(crate) fn read(&self, address: u64, n: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * n];
        self.memory.read(address, &mut bytes).expect("in range");
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    pub(crate) fn read_floats(&self, address: u64, n: usize) -> Vec<f32> {
        self.read(address, n).into_iter().map(f32::from_bits).collect()
    }

    /// Launches the module's first kernel with these parameters, each 4 or 8 bytes.
    #[track_caller]
    pub(crate) fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        params: &[Arg],
    ) -> LaunchReport {
        let mut bytes: Vec<u8> = Vec::new();
        for p in params {
            match p {
                Arg::Word(w) => bytes.extend(w.to_le_bytes()),
                Arg::Long(l) => {
                    bytes.resize(bytes.len().next_multiple_of(8), 0);
                    bytes.extend(l.to_le_bytes());
                }
            }
        }
        let config = LaunchConfig {
            grid,
            block,
            dynamic_shared,
            params: bytes,
            options: LaunchOptions {
                check_level: self.check_level,
                threads: NonZeroUsize::new(self.threads),
                budget: NonZeroU64::new(self.budget),
                ..LaunchOptions::default()
            },
        };
        let environment = Environment { textures: &Textures::default(), clock: &|| 12345 };
        let kernel = &self.module.kernels()[0];
        match simt::launch::launch(&self.memory, kernel, &config, environment) {
            Ok(report) => report,
            Err(refused) => panic!("refused: {refused}"),
        }
    }

    /// Launches a grid of one dimension.
    #[track_caller]
    pub(crate) fn launch_line(&self, grid: u32, block: u32, params: &[Arg]) -> LaunchReport {
        self.launch([grid, 1, 1], [block, 1, 1], 0, params)
    }

    /// Launches; asserts that nothing is found.
    #[track_caller]
    pub(crate) fn run(&self, grid: u32, block: u32, params: &[Arg]) -> LaunchReport {
        let report = self.launch_line(grid, block, params);
        assert_eq!(codes(&report), [""; 0], "{:#?}", report.mistakes);
        report
    }
}

pub(crate) enum Arg {
    Word(u32),
    Long(u64),
}

/// The codes of what was found.
pub(crate) fn codes(report: &LaunchReport) -> Vec<String> {
    let codes = report.mistakes.codes();
    codes.iter().map(|code| code.as_str().to_owned()).collect()
}
