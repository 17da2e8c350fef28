//! Loading a module: parse, check what is supported, give its variables memory, decode.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::ast::Space;
use sass::{Segment, Target};

use crate::exec::plan::Plan;
use crate::memory::{AddressError, Memory, Origin, OutOfMemory};
use arithmetic::lanes::CpuLevel;
use decode::{self, DecodeError, Symbols};
use program::limits::{self, Account};
use program::{DecodedKernel, Program, window};

/// Shared memory that a kernel may declare, on every device: ptxas refuses more.
pub const MAX_DECLARED_SHARED: u32 = 48 * 1024;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// Not PTX, not supported, or more than a module may take.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A kernel declares more shared memory than the assembler allows.
    #[error(
        "kernel `{kernel}` declares {bytes} bytes of __shared__ arrays, and {limit} is the most that a kernel may \
             declare; what it needs beyond must be dynamic shared memory (extern __shared__), for which the program asks"
    )]
    SharedMemory { kernel: String, bytes: u32, limit: u32 },
    /// No room for its variables.
    #[error("no memory for variable `{0}`: {1}")]
    Memory(String, OutOfMemory),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Symbol, as written in PTX.
    pub name: String,
    pub address: u64,
    pub bytes: u64,
    /// Whether it is declared as `.const`: kernels may not write it.
    pub constant: bool,
}

/// A kernel that can be launched. [`Module::load`] alone makes one, and has validated all registers in it.
///
/// ```compile_fail
/// fn exchange(loaded: &mut simt::module::LoadedKernel, other: std::sync::Arc<program::Kernel>) {
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
    kernel: DecodedKernel,
    files: Arc<[(u32, String)]>,
    plan: Plan,
}

impl LoadedKernel {
    pub fn kernel(&self) -> &DecodedKernel {
        &self.kernel
    }

    /// Returns the `.file` table of its module.
    pub fn files(&self) -> &[(u32, String)] {
        &self.files
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
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
    /// Machine code: addresses of the memory that variables share.
    segments: Vec<u64>,
    /// Bytes of the decoded kernels, which count as the device's.
    code_bytes: u64,
}

impl Variables {
    /// Allocates the variables of machine code by whole segments: the code relies on their layout.
    fn place(&mut self, module: &sass::Module) -> Result<decode::sass::Segments, LoadError> {
        let mut places: HashMap<Segment, u64> = HashMap::new();
        let sizes = [
            (Segment::Initialised, "variables", module.initialised.len() as u64),
            (Segment::Zeroed, "variables", module.zeroed_bytes),
            (Segment::Constants, "constants", module.constants.len() as u64),
        ];
        for (segment, label, bytes) in sizes.into_iter().filter(|(.., bytes)| *bytes > 0) {
            let constant = segment == Segment::Constants;
            let of_segment = |variable: &&sass::Variable| variable.segment == segment;
            let mut inside = module.variables.iter().filter(of_segment);
            // One that is alone lends its name.
            let name = match (inside.next(), inside.next()) {
                (Some(only), None) => &only.name,
                _ => label,
            };
            let origin = Origin { label: name.to_owned(), read_only: constant, symbol: true };
            let no_room = |e| LoadError::Memory(name.to_owned(), e);
            let address = self.memory.alloc(bytes, origin).map_err(no_room)?;
            self.segments.push(address);
            places.insert(segment, address);
            for variable in module.variables.iter().filter(of_segment) {
                self.list.push(ModuleVariable {
                    name: variable.name.clone(),
                    address: address.wrapping_add(variable.offset),
                    bytes: variable.size,
                    constant,
                });
            }
        }
        let mut contents: HashMap<Segment, Vec<u8>> = HashMap::from([
            (Segment::Initialised, module.initialised.clone()),
            (Segment::Constants, module.constants.clone()),
            (Segment::Addresses, module.addresses.clone()),
        ]);
        let kernels = module.kernels.iter().enumerate();
        contents.extend(kernels.map(|(at, kernel)| (Segment::Tables(at), kernel.tables.clone())));
        for relocation in &module.relocations {
            let refused = |what: String| DecodeError::Refused(vec![what]).into();
            let address = match &relocation.target {
                Target::Outside(name) => return Err(refused(format!("machine code that needs `{name}`"))),
                Target::Inside { segment, offset } => match segment {
                    Segment::Code(_) => *offset,
                    Segment::Shared(_) => window::SHARED | offset,
                    other => match places.get(other) {
                        Some(start) => start.wrapping_add(*offset),
                        None => return Err(refused(format!("an address in {other:?}"))),
                    },
                },
            };
            let address = address.wrapping_add_signed(relocation.addend).to_le_bytes();
            let place = contents.get_mut(&relocation.segment).and_then(|bytes| {
                let start = usize::try_from(relocation.offset).ok()?;
                bytes.get_mut(start..start.checked_add(address.len())?)
            });
            match place {
                Some(place) => place.copy_from_slice(&address),
                None => return Err(refused(format!("an address for {:?}", relocation.segment))),
            }
        }
        for (segment, address) in &places {
            let internal = |e: AddressError| DecodeError::Internal(e.to_string());
            if let Some(bytes) = contents.get(segment) {
                self.memory.write(*address, bytes).map_err(internal)?;
            }
            self.memory.trust(*address).map_err(internal)?;
        }
        let mut fixed = HashMap::new();
        let tables = (0..module.kernels.len()).map(Segment::Tables);
        for segment in tables.chain([Segment::Addresses]) {
            let Some(bytes) = contents.get(&segment).filter(|bytes| !bytes.is_empty()) else { continue };
            let origin = Origin { label: "constants of the compiler".to_owned(), read_only: true, symbol: true };
            let name = &origin.label.clone();
            let no_room = |e| LoadError::Memory(name.to_owned(), e);
            let address = self.memory.alloc(bytes.len() as u64, origin).map_err(no_room)?;
            self.segments.push(address);
            let internal = |e: AddressError| DecodeError::Internal(e.to_string());
            self.memory.write(address, bytes).map_err(internal)?;
            self.memory.trust(address).map_err(internal)?;
            fixed.insert(segment, address);
        }
        let tables = (0..module.kernels.len()).map(|at| contents.remove(&Segment::Tables(at)).unwrap_or_default());
        Ok(decode::sass::Segments {
            tables: tables.collect(),
            addresses: contents.remove(&Segment::Addresses).unwrap_or_default(),
            constants: places.get(&Segment::Constants).copied(),
            fixed,
        })
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        self.memory.give_back(self.code_bytes);
        // The program may have freed one through its address; then there is nothing left to do.
        let free = |address| {
            let _ = self.memory.free(address);
        };
        match &self.segments[..] {
            [] => self.list.iter().map(|variable| variable.address).for_each(free),
            segments => segments.iter().copied().for_each(free),
        }
    }
}

impl Module {
    /// Loads PTX text. `level` selects vector instructions, `None` the best that the CPU has.
    pub fn load(memory: &Arc<Memory>, text: &str, level: Option<CpuLevel>) -> Result<Self, LoadError> {
        let best = arithmetic::cpu_level();
        let level = level.map_or(best, |asked| asked.min(best));
        let parsed = ptx::parse_within(text, limits::tree_bytes(memory.limit()));
        let mut module = parsed.map_err(DecodeError::from)?;
        ptx::table::canonicalise(&mut module);
        let account = Account::new(memory.free_bytes());
        // The table alone lists the instructions and which of them are supported; decode relies on it.
        ptx::table::check(&module).map_err(DecodeError::from)?;
        let mut variables =
            Variables { memory: Arc::clone(memory), list: Vec::new(), segments: Vec::new(), code_bytes: 0 };
        let wanted = decode::module_variables(&module, &account)?;
        let mut symbols = Symbols::new();
        for v in &wanted {
            let constant = v.space == Space::Const;
            let origin = Origin { label: v.name.clone(), read_only: constant, symbol: true };
            let address = memory.alloc(v.bytes, origin).map_err(|e| LoadError::Memory(v.name.clone(), e))?;
            symbols.insert(v.name.clone(), address);
            variables.list.push(ModuleVariable { name: v.name.clone(), address, bytes: v.bytes, constant });
        }
        for (v, placed) in wanted.iter().zip(&variables.list) {
            let write = |offset: u64, bytes: &[u8]| {
                let written = memory.write(placed.address.saturating_add(offset), bytes);
                written.map_err(|e| DecodeError::Internal(e.to_string()))
            };
            for (at, bytes) in &v.init {
                write(*at, bytes)?;
            }
            for r in &v.relocations {
                let address = symbols.get(&r.symbol).unwrap_or(0).wrapping_add_signed(r.offset);
                let bytes = address.to_le_bytes();
                write(r.at, bytes.get(..r.bytes as usize).unwrap_or(&bytes))?;
            }
            // Bytes without an initial value are zeros, which count as written.
            memory.trust(placed.address).map_err(|e| DecodeError::Internal(e.to_string()))?;
        }
        let program = decode::decode(&module, &symbols, level, &account)?;
        Self::of(program, variables, &account)
    }

    /// Loads machine code. `level`: as for [`Self::load`].
    pub fn load_machine_code(
        memory: &Arc<Memory>, module: &sass::Module, level: Option<CpuLevel>,
    ) -> Result<Self, LoadError> {
        let best = arithmetic::cpu_level();
        let level = level.map_or(best, |asked| asked.min(best));
        let account = Account::new(memory.free_bytes());
        let mut variables =
            Variables { memory: Arc::clone(memory), list: Vec::new(), segments: Vec::new(), code_bytes: 0 };
        let segments = variables.place(module)?;
        let program = decode::sass::decode(module, &segments, level, &account)?;
        Self::of(program, variables, &account)
    }

    /// Returns a decoded program, and where its variables are.
    fn of(program: Program, mut variables: Variables, account: &Account) -> Result<Self, LoadError> {
        let code_bytes = account.bytes_taken();
        let no_room = |e: OutOfMemory| DecodeError::TooLarge(format!("no memory for the module's code: {e}"));
        variables.memory.take(code_bytes).map_err(no_room)?;
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
            kernels.push(Arc::new(LoadedKernel { kernel, files: Arc::clone(&files), plan }));
        }
        Ok(Self { kernels, variables })
    }

    pub fn kernel(&self, name: &str) -> Option<&Arc<LoadedKernel>> {
        self.kernels.iter().find(|k| k.kernel.name == name)
    }

    /// Returns the kernels, in the order of the text.
    pub fn kernels(&self) -> &[Arc<LoadedKernel>] {
        &self.kernels
    }

    /// Returns the variables, in the order of the text.
    pub fn variables(&self) -> &[ModuleVariable] {
        &self.variables.list
    }

    pub fn variable(&self, name: &str) -> Option<&ModuleVariable> {
        self.variables.list.iter().find(|v| v.name == name)
    }
}
