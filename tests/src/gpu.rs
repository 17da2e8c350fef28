//! An emulated GPU for tests: buffers of numbers, launches by name, everything watched.

use std::sync::Arc;

use findings::Report;
use simt::check::Code;
use simt::lanes::CpuLevel;
use simt::launch::{Environment, LaunchConfig, LaunchOptions, Watch, launch};
use simt::memory::{Memory, Origin};
use simt::module::{LoadError, LoadedKernel, Module};
use simt::texture::Textures;

/// Memory and textures of one device.
#[derive(Debug)]
pub struct Gpu {
    /// Its memory.
    pub memory: Arc<Memory>,
    /// Its texture objects, by handle.
    pub textures: Textures,
}

/// A number that buffers hold and kernels take.
pub trait Value: Copy {
    /// Size in bytes.
    const BYTES: usize;
    /// Little endian.
    fn put(self, to: &mut Vec<u8>);
    /// The other way round.
    fn get(from: &[u8]) -> Self;
}

macro_rules! values {
    ($($ty:ty),*) => { $(
        impl Value for $ty {
            const BYTES: usize = size_of::<$ty>();
            fn put(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
            fn get(from: &[u8]) -> Self {
                <$ty>::from_le_bytes(from.try_into().unwrap_or_default())
            }
        }
        impl From<$ty> for Argument {
            fn from(value: $ty) -> Self {
                Self(value.to_le_bytes().to_vec())
            }
        }
    )* };
}
values!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// The bytes of a kernel argument.
#[derive(Debug, Clone)]
pub struct Argument(pub Vec<u8>);

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared: u32,
}

impl Shape {
    /// In one dimension.
    pub fn line(grid: u32, block: u32) -> Self {
        Self {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            shared: 0,
        }
    }

    /// In two dimensions.
    pub fn plane(grid: [u32; 2], block: [u32; 2]) -> Self {
        Self {
            grid: [grid[0], grid[1], 1],
            block: [block[0], block[1], 1],
            shared: 0,
        }
    }
}

impl Default for Gpu {
    fn default() -> Self {
        Self::with_room(1 << 30)
    }
}

impl Gpu {
    /// With so many bytes of memory.
    pub fn with_room(bytes: u64) -> Self {
        Self {
            memory: Arc::new(Memory::new(bytes)),
            textures: Textures::default(),
        }
    }

    /// A buffer that nobody has written.
    ///
    /// # Panics
    /// When there is no room.
    pub fn alloc<T: Value>(&self, n: usize) -> u64 {
        self.memory
            .alloc((n * T::BYTES) as u64, Origin::new("buffer"))
            .expect("room for a buffer")
    }

    /// A buffer with these values.
    ///
    /// # Panics
    /// When there is no room.
    pub fn upload<T: Value>(&self, values: &[T]) -> u64 {
        let address = self.alloc::<T>(values.len());
        self.write(address, values);
        address
    }

    /// Writes values to a buffer.
    ///
    /// # Panics
    /// When they do not fit.
    pub fn write<T: Value>(&self, address: u64, values: &[T]) {
        let mut bytes = Vec::with_capacity(values.len() * T::BYTES);
        values.iter().for_each(|v| v.put(&mut bytes));
        self.memory
            .write(address, &bytes)
            .expect("a buffer that is large enough");
    }

    /// Reads values from a buffer.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn read<T: Value>(&self, address: u64, n: usize) -> Vec<T> {
        let mut bytes = vec![0; n * T::BYTES];
        self.memory
            .read(address, &mut bytes)
            .expect("a buffer that is large enough");
        bytes.chunks_exact(T::BYTES).map(T::get).collect()
    }

    /// Loads PTX.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load(&self, text: &str) -> Result<Module, LoadError> {
        self.load_at(text, None)
    }

    /// Loads PTX for certain vector instructions of the CPU; `None` for the best.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_at(&self, text: &str, level: Option<CpuLevel>) -> Result<Module, LoadError> {
        Module::load(&self.memory, text, level)
    }

    /// Launches a kernel of a module.
    ///
    /// # Errors
    /// As [`Self::launch_raw`]; also when the module has no such kernel.
    pub fn launch(
        &self,
        module: &Module,
        name: &str,
        shape: Shape,
        arguments: &[Argument],
        options: LaunchOptions,
    ) -> Result<Report, String> {
        let loaded = module.kernel(name).ok_or_else(|| format!("no kernel `{name}`"))?;
        let mut params = vec![0; loaded.kernel().param_bytes as usize];
        for (param, argument) in loaded.kernel().params.iter().zip(arguments) {
            let start = param.offset as usize;
            if argument.0.len() != param.bytes as usize {
                return Err(format!("{} has another size", param.name));
            }
            params[start..start + argument.0.len()].copy_from_slice(&argument.0);
        }
        self.launch_raw(loaded, shape, params, options)
    }

    /// Launches a kernel with bytes for parameters, right or wrong.
    ///
    /// # Errors
    /// When the launch is refused, why.
    pub fn launch_raw(
        &self,
        kernel: &LoadedKernel,
        shape: Shape,
        params: Vec<u8>,
        options: LaunchOptions,
    ) -> Result<Report, String> {
        self.launch_raw_with_codes(kernel, shape, params, options)
            .map(|(report, _)| report)
    }

    /// The same, and the codes of all that went wrong: a report leaves out what follows from something else.
    ///
    /// # Errors
    /// When the launch is refused, why.
    pub fn launch_raw_with_codes(
        &self,
        kernel: &LoadedKernel,
        shape: Shape,
        params: Vec<u8>,
        options: LaunchOptions,
    ) -> Result<(Report, Vec<Code>), String> {
        let config = LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.shared,
            params,
            options,
        };
        let environment = Environment {
            textures: &self.textures,
            clock: &|| 0,
        };
        match launch(&self.memory, kernel, &config, environment) {
            Ok(report) => {
                let codes = report.mistakes.codes();
                Ok((Report::new(report, kernel, &config), codes))
            }
            Err(refused) => Err(findings::refusal(kernel.kernel(), &config, &refused)),
        }
    }

    /// Launches with all checks on, and wants no finding.
    ///
    /// # Panics
    /// When the launch is refused or a check found something.
    pub fn run(&self, module: &Module, name: &str, shape: Shape, arguments: &[Argument]) -> Report {
        let options = LaunchOptions {
            watch: Watch::CheckedGlobalRaces,
            budget: 1 << 32,
            ..LaunchOptions::default()
        };
        let report = match self.launch(module, name, shape, arguments, options) {
            Ok(report) => report,
            Err(refused) => panic!("{name}: {refused}"),
        };
        let texts: Vec<&str> = report.findings.iter().map(|f| f.text.as_str()).collect();
        assert!(texts.is_empty(), "{name}:\n{}", texts.join("\n"));
        report
    }
}
