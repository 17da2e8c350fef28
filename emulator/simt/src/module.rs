//! Loading a module: parse, check what is supported, give its variables memory, decode.

use std::sync::Arc;

use ptx::CheckError;
use ptx::ast::Space;

use crate::decode::{self, DecodeError, Symbols};
use crate::exec::plan::Plan;
use crate::lanes::CpuLevel;
use crate::limits::{self, Account};
use crate::memory::{Memory, Origin, OutOfMemory};
use crate::program::Kernel;

/// Shared memory that a kernel may declare, on every device: ptxas refuses more.
pub const MAX_DECLARED_SHARED: u32 = 48 * 1024;

/// Why a module was not loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// Not PTX that we can read, or not a valid program (an undeclared register, a wrong operand).
    #[error(transparent)]
    Parse(#[from] ptx::ParseError),
    /// Valid PTX, but not supported: everything of that kind that was found, in the order of the text.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<ptx::Unsupported>),
    /// Our own mistake.
    #[error("internal error: {0}")]
    Internal(String),
    /// More than a module may take: [`crate::limits`].
    #[error("{0}")]
    TooLarge(String),
    /// A kernel declares more shared memory than the assembler allows.
    #[error(
        "kernel `{kernel}` declares {bytes} bytes of __shared__ arrays, and {limit} is the most that a kernel may \
             declare; what it needs beyond must be dynamic shared memory (extern __shared__), for which the program asks"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// What it declares.
        bytes: u32,
        /// What it may declare.
        limit: u32,
    },
    /// No room for its variables.
    #[error("no memory for variable `{0}`: {1}")]
    Memory(String, OutOfMemory),
}

impl From<CheckError> for LoadError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Parse(error) => Self::Parse(error),
            CheckError::Unsupported(list) => Self::Unsupported(list),
        }
    }
}

impl From<DecodeError> for LoadError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Unsupported(list) => Self::Unsupported(list),
            DecodeError::Invalid(error) => Self::Parse(error),
            DecodeError::TooLarge(why) => Self::TooLarge(why),
            DecodeError::Internal(what) => Self::Internal(what),
        }
    }
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

/// A kernel that can be launched. [`Module::load`] alone makes one, and nobody can change it: a launch reaches
/// registers by the numbers in it, all of which loading has validated.
///
/// ```compile_fail
/// fn exchange(loaded: &mut simt::module::LoadedKernel, other: std::sync::Arc<simt::program::Kernel>) {
///     loaded.kernel = other;
/// }
/// ```
///
/// ```compile_fail
/// fn change(loaded: &mut simt::module::LoadedKernel) {
///     loaded.kernel().n_lines = 0;
/// }
/// ```
#[derive(Debug)]
pub struct LoadedKernel {
    kernel: Kernel,
    files: Arc<[(u32, String)]>,
    plan: Plan,
    level: CpuLevel,
}

impl LoadedKernel {
    /// What runs.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// `.file` table of its module.
    pub fn files(&self) -> &[(u32, String)] {
        &self.files
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Vector instructions that it was decoded for.
    pub(crate) fn level(&self) -> CpuLevel {
        self.level
    }
}

/// A loaded module. Its variables are freed when it is dropped.
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Arc<LoadedKernel>>,
    variables: Variables,
}

/// Memory of a module, freed with it.
#[derive(Debug)]
struct Variables {
    memory: Arc<Memory>,
    list: Vec<ModuleVariable>,
    /// Bytes of the decoded kernels, which count as the device's.
    code_bytes: u64,
}

impl Drop for Variables {
    fn drop(&mut self) {
        self.memory.give_back(self.code_bytes);
        for variable in &self.list {
            // Somebody may have freed it through its address; then there is nothing left to do.
            let _ = self.memory.free(variable.address);
        }
    }
}

impl Module {
    /// Loads PTX text. `level`: vector instructions to use, `None` for the best the CPU has.
    pub fn load(memory: &Arc<Memory>, text: &str, level: Option<CpuLevel>) -> Result<Self, LoadError> {
        let best = crate::alu::cpu_level();
        let level = level.map_or(best, |asked| asked.min(best));
        let mut module = ptx::parse_within(text, limits::tree_bytes(memory.limit()))?;
        ptx::table::canonicalise(&mut module);
        let account = Account::new(memory.free_bytes());
        // The table alone says which instructions there are and which of them run here; decode relies on it.
        ptx::table::check(&module)?;
        let mut variables = Variables {
            memory: Arc::clone(memory),
            list: Vec::new(),
            code_bytes: 0,
        };
        let wanted = decode::module_variables_within(&module, &account)?;
        let mut symbols = Symbols::new();
        for v in &wanted {
            let constant = v.space == Space::Const;
            let origin = Origin {
                label: v.name.clone(),
                read_only: constant,
                symbol: true,
            };
            let address = memory
                .alloc(v.bytes, origin)
                .map_err(|e| LoadError::Memory(v.name.clone(), e))?;
            symbols.insert(v.name.clone(), address);
            variables.list.push(ModuleVariable {
                name: v.name.clone(),
                address,
                bytes: v.bytes,
                constant,
            });
        }
        for (v, placed) in wanted.iter().zip(&variables.list) {
            let write = |at: u64, bytes: &[u8]| {
                let written = memory.write(placed.address.saturating_add(at), bytes);
                written.map_err(|e| LoadError::Internal(e.to_string()))
            };
            for (at, bytes) in &v.init {
                write(*at, bytes)?;
            }
            for r in &v.relocations {
                let address = symbols.get(&r.symbol).unwrap_or(0).wrapping_add_signed(r.offset);
                let bytes = address.to_le_bytes();
                write(r.at, bytes.get(..r.bytes as usize).unwrap_or(&bytes))?;
            }
            // What has no value starts as zeros, and that counts as written.
            memory
                .trust(placed.address)
                .map_err(|e| LoadError::Internal(e.to_string()))?;
        }
        let program = decode::decode_within(&module, &symbols, level, &account)?;
        let code_bytes = account.bytes_taken();
        let no_room = |e: OutOfMemory| LoadError::TooLarge(format!("no memory for the module's code: {e}"));
        memory.take(code_bytes).map_err(no_room)?;
        variables.code_bytes = code_bytes;
        let files: Arc<[(u32, String)]> = program.files.into();
        let mut kernels = Vec::with_capacity(program.kernels.len());
        for kernel in program.kernels {
            if kernel.shared_static_bytes > MAX_DECLARED_SHARED {
                return Err(LoadError::SharedMemory {
                    kernel: kernel.name.clone(),
                    bytes: kernel.shared_static_bytes,
                    limit: MAX_DECLARED_SHARED,
                });
            }
            let plan = Plan::new(&kernel);
            kernels.push(Arc::new(LoadedKernel {
                kernel,
                files: Arc::clone(&files),
                plan,
                level,
            }));
        }
        Ok(Self { kernels, variables })
    }

    /// A kernel by its name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<LoadedKernel>> {
        self.kernels.iter().find(|k| k.kernel.name == name)
    }

    /// All kernels, in the order of the text.
    pub fn kernels(&self) -> &[Arc<LoadedKernel>] {
        &self.kernels
    }

    /// All variables, in the order of the text.
    pub fn variables(&self) -> &[ModuleVariable] {
        &self.variables.list
    }

    /// A variable by its name.
    pub fn variable(&self, name: &str) -> Option<&ModuleVariable> {
        self.variables.list.iter().find(|v| v.name == name)
    }
}
