//! The machine for programs in Rust: buffers of numbers, arguments, launches. The driver has memory of its own.

use std::sync::Arc;

use crate::launch::{self, Environment, LaunchOptions, LaunchRefused, LaunchRequest, LaunchResult};
use crate::memory::{Memory, Origin};
use crate::module::{LoadError, LoadedKernel, Module};
use crate::trace::{Observer, Recorder, Step, TraceSelection};
use crate::{report::LaunchReport, texture::Textures};

#[derive(Debug)]
pub struct Gpu {
    pub memory: Arc<Memory>,
    pub textures: Textures,
}

/// A number that buffers hold and kernels take.
pub trait Value: Copy {
    const BYTES: usize;
    /// Appends the number, little endian.
    fn put(self, to: &mut Vec<u8>);
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
                <$ty>::from_le_bytes(from.try_into().expect("the bytes of one number"))
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

#[derive(Debug, Clone)]
pub struct Argument(pub Vec<u8>);

#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
}

impl Geometry {
    /// Returns a grid and a block of one dimension, without dynamic shared memory.
    pub fn line(grid: u32, block: u32) -> Self {
        Self { grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared: 0 }
    }

    /// Returns a grid and a block of two dimensions, without dynamic shared memory.
    pub fn plane(grid: [u32; 2], block: [u32; 2]) -> Self {
        Self { grid: [grid[0], grid[1], 1], block: [block[0], block[1], 1], dynamic_shared: 0 }
    }

    pub fn request(self, params: Vec<u8>, options: LaunchOptions) -> LaunchRequest {
        LaunchRequest { grid: self.grid, block: self.block, dynamic_shared: self.dynamic_shared, params, options }
    }
}

/// The size of an argument differs from that of its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("argument {index} has {given} bytes, its parameter {wanted}")]
pub struct WrongArgument {
    /// Position of the argument, from 0.
    pub index: usize,
    /// Bytes of the argument.
    pub given: usize,
    /// Bytes of the parameter.
    pub wanted: usize,
}

impl Default for Gpu {
    fn default() -> Self {
        Self::with_memory(1 << 30)
    }
}

impl Gpu {
    pub fn with_memory(bytes: u64) -> Self {
        Self { memory: Arc::new(Memory::new(bytes)), textures: Textures::default() }
    }

    /// Allocates a buffer that nothing has written. Panics when the memory is full.
    pub fn alloc<T: Value>(&self, n: usize) -> u64 {
        self.memory.alloc((n * T::BYTES) as u64, Origin::new("buffer")).expect("memory for a buffer")
    }

    /// Allocates a buffer with these values. Panics when the memory is full.
    pub fn upload<T: Value>(&self, values: &[T]) -> u64 {
        let address = self.alloc::<T>(values.len());
        self.write(address, values);
        address
    }

    /// Writes values to a buffer. Panics when they do not fit.
    pub fn write<T: Value>(&self, address: u64, values: &[T]) {
        let mut bytes = Vec::with_capacity(values.len() * T::BYTES);
        values.iter().for_each(|v| v.put(&mut bytes));
        self.write_bytes(address, &bytes);
    }

    /// Writes bytes to a buffer. Panics when they do not fit.
    pub fn write_bytes(&self, address: u64, bytes: &[u8]) {
        self.memory.write(address, bytes).expect("a buffer that is large enough");
    }

    /// Reads values from a buffer. Panics when the buffer has fewer than `n`.
    pub fn read<T: Value>(&self, address: u64, n: usize) -> Vec<T> {
        let mut bytes = vec![0; n * T::BYTES];
        self.memory.read(address, &mut bytes).expect("a buffer that is large enough");
        bytes.chunks_exact(T::BYTES).map(T::get).collect()
    }

    pub fn load(&self, text: &str) -> Result<Module, LoadError> {
        Module::load(&self.memory, text, None)
    }

    /// Launches a kernel with a parameter block, whose contents are not checked.
    pub fn launch(&self, kernel: &LoadedKernel, request: &LaunchRequest) -> LaunchResult {
        launch::launch(&self.memory, kernel, request, self.environment(None))
    }

    /// Launches, and records the steps of one warp or of a block, each with the number of its warp.
    pub fn trace(
        &self, kernel: &LoadedKernel, request: &LaunchRequest, selection: TraceSelection,
    ) -> Result<(LaunchReport, Vec<(u32, Step)>), LaunchRefused> {
        let recorder = Recorder::new(selection, request.grid);
        let report = self.observe(kernel, request, &recorder)?;
        Ok((report, recorder.into_steps()))
    }

    pub fn observe(&self, kernel: &LoadedKernel, request: &LaunchRequest, observer: &dyn Observer) -> LaunchResult {
        launch::launch(&self.memory, kernel, request, self.environment(Some(observer)))
    }

    /// Returns the environment whose clock stands still.
    fn environment<'a>(&'a self, observer: Option<&'a dyn Observer>) -> Environment<'a> {
        Environment { textures: &self.textures, clock: &|| 0, observer }
    }
}

impl LoadedKernel {
    /// Returns the kernel's parameter block with these arguments, which come in its order. Parameters without an
    /// argument are 0. Fails if the size of an argument differs from that of its parameter.
    pub fn param_block(&self, arguments: &[Argument]) -> Result<Vec<u8>, WrongArgument> {
        let kernel = self.kernel();
        let mut params = vec![0; kernel.param_bytes as usize];
        for (index, (param, argument)) in kernel.params.iter().zip(arguments).enumerate() {
            let start = param.offset as usize;
            let (given, wanted) = (argument.0.len(), param.bytes as usize);
            match params.get_mut(start..start + wanted) {
                Some(place) if given == wanted => place.copy_from_slice(&argument.0),
                _ => return Err(WrongArgument { index, given, wanted }),
            }
        }
        Ok(params)
    }
}
