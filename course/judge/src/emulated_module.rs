//! A module on the emulated GPU, and launches of its kernel.

use std::collections::HashMap;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use catalog::Shape;
use diagnostics::{Finding, Report, Source};
use program::text::InstrText;
use program::{DeclaredArray, SourceLoc};
use reference::inputs::Accumulator;
use simt::gpu::{Argument, Gpu, Value};
use simt::launch::{CheckLevel, LaunchOptions, LaunchRequest, Names};
use simt::memory::Origin;
use simt::module::{LoadedKernel, Module};
use simt::report::LaunchReport;
use simt::trace::{Step, TraceSelection};

use crate::{JudgeError, Request};
use crate::{tensor_map::tensor_map, trial::Trial};

#[derive(Debug)]
pub struct EmulatedModule<'a> {
    request: &'a Request<'a>,
    gpu: Gpu,
    kernel: Arc<LoadedKernel>,
    /// Owns the kernel's variables.
    _module: Module,
    names: Names,
    /// Factor of the limit of instructions.
    pub patience: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    NotLoaded(String),
    /// No kernel of that name, or one with other parameters.
    #[error("{0}")]
    NoEntry(String),
}

/// The value of a parameter.
#[derive(Debug)]
pub enum Parameter {
    /// The address of a buffer with this content.
    Buffer(Vec<u8>),
    /// The bytes of a number.
    Number(Vec<u8>),
}

/// Device memory: several times the operands of the largest shape.
const DEVICE_MEMORY: u64 = 1 << 30;

fn load(ptx: &str) -> Result<(Gpu, Module), LoadError> {
    let gpu = Gpu::with_memory(DEVICE_MEMORY);
    let module = gpu.load(ptx).map_err(|error| LoadError::NotLoaded(error.to_string()))?;
    Ok((gpu, module))
}

/// Steps of the first block of a launch.
pub(crate) struct BlockTrace {
    report: LaunchReport,
    /// With the number of the warp of each.
    pub(crate) steps: Vec<(u32, Step)>,
    /// Addresses of the trial's buffers.
    pub(crate) buffers: Vec<u64>,
}

impl<'a> EmulatedModule<'a> {
    pub fn new(request: &'a Request<'a>) -> Result<Self, LoadError> {
        let (gpu, module) = load(request.ptx)?;
        Self::with_module(request, gpu, module)
    }

    /// Loads a kernel whose parameters need not be those of the task.
    pub fn with_any_parameters(request: &'a Request<'a>) -> Result<Self, LoadError> {
        let (gpu, module) = load(request.ptx)?;
        Self::of_entry(request, gpu, module, Vec::new())
    }

    /// Loads machine code in place of the PTX.
    pub fn of_code(request: &'a Request<'a>, code: &sass::Module) -> Result<Self, LoadError> {
        let gpu = Gpu::with_memory(DEVICE_MEMORY);
        let module = Module::load_machine_code(&gpu.memory, code, None)
            .map_err(|error| LoadError::NotLoaded(error.to_string()))?;
        Self::with_module(request, gpu, module)
    }

    fn with_module(request: &'a Request<'a>, gpu: Gpu, module: Module) -> Result<Self, LoadError> {
        let task = request.task;
        let params = task.work.parameters().iter();
        let loaded = Self::of_entry(request, gpu, module, params.map(|(_, name)| (*name).to_owned()).collect())?;
        let bytes: Vec<u32> = loaded.kernel.kernel().params.iter().map(|param| param.bytes).collect();
        if request.setup.is_none() && task.launch.is_none() && bytes != task.work.parameter_bytes() {
            let wanted = task.work.parameters().iter();
            let wanted: Vec<String> = wanted.map(|(kind, name)| format!("{kind} {name}")).collect();
            return Err(LoadError::NoEntry(format!(
                "{} has other parameters than ({})",
                task.entry,
                wanted.join(", ")
            )));
        }
        Ok(loaded)
    }

    fn of_entry(request: &'a Request<'a>, gpu: Gpu, module: Module, params: Vec<String>) -> Result<Self, LoadError> {
        let task = request.task;
        let Some(kernel) = module.kernel(&task.entry) else {
            let names: Vec<&str> = module.kernels().iter().map(|kernel| kernel.kernel().name.as_str()).collect();
            let found = if names.is_empty() {
                "there is no kernel at all".to_owned()
            } else {
                format!("there is {}", names.join(", "))
            };
            return Err(LoadError::NoEntry(format!(
                "there is no kernel called {}; {found} (is it declared extern \"C\" __global__?)",
                task.entry
            )));
        };
        let kernel = Arc::clone(kernel);
        let sources = request.sources.iter();
        Ok(Self {
            names: Names {
                params,
                sources: sources.map(|(name, text)| (name.clone(), Arc::from(text.as_str()))).collect(),
                budget: None,
            },
            patience: 1,
            request,
            gpu,
            kernel,
            _module: module,
        })
    }

    pub fn threads(&self) -> u32 {
        self.request.task.block.iter().fold(1, |all, n| all.saturating_mul(*n))
    }

    pub fn static_shared_bytes(&self) -> u32 {
        self.kernel.kernel().shared_static_bytes
    }

    /// Returns the name and the start of the array at an address in shared memory.
    pub(crate) fn shared_array(&self, address: u64) -> Option<(&str, u64)> {
        let is_there = |array: &&DeclaredArray| address.wrapping_sub(array.offset.into()) < array.bytes.into();
        let array = self.kernel.kernel().shared.iter().find(is_there)?;
        Some((diagnostics::plain_name(&array.name), array.offset.into()))
    }

    pub(crate) fn source(&self) -> Option<Source> {
        self.request.sources.first().map(|(_, text)| Source::new(&text.as_str().into()))
    }

    /// Returns the first line at which the compiler computes with a constant NaN, which it puts for undefined values.
    pub(crate) fn undefined_line(&self) -> Option<String> {
        const NAN: [&str; 3] = ["0f7FC00000", "0f7FFFFFFF", "0d7FF8000000000000"];
        let computes = |text: &str| {
            let InstrText { mnemonic, operands, .. } = InstrText::new(text);
            ["add.", "sub.", "mul.", "fma."].iter().any(|name| mnemonic.starts_with(name))
                && operands.iter().any(|operand| NAN.contains(operand))
        };
        let mut places = self.kernel.kernel().instrs.iter().zip(self.places());
        let (_, place) = places.find(|(info, place)| place.is_some() && computes(&info.text))?;
        place.map(|(file, line)| format!("line {line} of {file}"))
    }

    /// Returns the source line of each instruction: the innermost one in the learner's file, which calls the code that
    /// is inlined from other files; or, where no line is in that file, the innermost one.
    pub(crate) fn places(&self) -> Vec<Option<(&str, u32)>> {
        /// Instructions at which warps wait for each other.
        const BARRIERS: [&str; 3] = ["bar.", "barrier.", "cp.async.wait"];
        let own = self.request.sources.first().map_or("", |(name, _)| name.as_str());
        let path = |at: &SourceLoc| {
            let mut files = self.kernel.files().iter();
            files.find(|(file, _)| *file == at.file).map(|(_, path)| (path.as_str(), at.line))
        };
        let mut known: HashMap<SourceLoc, &[SourceLoc]> = HashMap::new();
        let mut barrier = None;
        let mut places = Vec::new();
        for info in &self.kernel.kernel().instrs {
            // Instructions after a barrier have a location of their own or none: the barrier's line covers it alone.
            let here = info.source.filter(|here| barrier != Some(*here));
            if info.source != barrier {
                barrier = info.source.filter(|_| BARRIERS.iter().any(|name| info.mnemonic().starts_with(name)));
            }
            places.push(here.and_then(|here| {
                // On return to a location, compilers may leave out the calls around it.
                let before = known.get(&here).copied().unwrap_or_default();
                let calls = if info.calls.is_empty() { before } else { &info.calls };
                known.insert(here, calls);
                let mut lines = std::iter::once(&here).chain(calls).filter_map(path);
                lines.find(|(file, _)| *file == own).or_else(|| path(&here))
            }));
        }
        places
    }

    /// Launches once, and returns the report with the contents of the output. The error is the finding about a refused
    /// launch.
    pub fn launch<T: Accumulator + Value>(
        &self, trial: &Trial<T>, check_level: CheckLevel, setup: &LaunchSetup,
    ) -> Result<(Report, Vec<T>), Box<Finding>> {
        self.run(trial, check_level, setup).map(|(report, got)| (report(), got))
    }

    /// Launches once, and returns a function that makes the report, which takes longer than a small launch where there
    /// are mistakes, with the contents of the output.
    pub(crate) fn run<T: Accumulator + Value>(
        &self, trial: &Trial<T>, check_level: CheckLevel, setup: &LaunchSetup,
    ) -> Result<(impl FnOnce() -> Report, Vec<T>), Box<Finding>> {
        let buffers = self.place(trial.buffers())?;
        let ran = self.request(trial, &buffers, check_level, setup).and_then(|request| {
            match self.gpu.launch(&self.kernel, &request) {
                Ok(report) => Ok((
                    move || Report::new(report, &self.kernel, &request),
                    self.gpu.read(buffers.last().copied().unwrap_or_default(), trial.start.len()),
                )),
                Err(refused) => Err(Box::new(diagnostics::refusal(self.kernel.kernel(), &request, &refused))),
            }
        });
        self.free(&buffers);
        ran
    }

    pub fn launch_setup(&self, shape: Shape) -> LaunchSetup {
        let task = self.request.task;
        let names = task.work.parameters().iter();
        self.request.setup.clone().unwrap_or_else(|| LaunchSetup {
            grid: task.grid(shape),
            block: task.block,
            arguments: match &task.launch {
                Some(launch) => launch.arguments.clone(),
                None => names.map(|(_, name)| (*name).to_owned()).collect(),
            },
        })
    }

    /// Launches once, and returns the report with the steps of a warp of the first block.
    pub fn trace<T: Accumulator + Value>(
        &self, trial: &Trial<T>, warp: u32, max_steps: usize,
    ) -> Option<(LaunchReport, Vec<Step>)> {
        let traced = self.trace_block(trial, Some(warp), max_steps)?;
        Some((traced.report, traced.steps.into_iter().map(|(_, step)| step).collect()))
    }

    /// Launches once, and records the steps of one warp of the first block, or of all.
    pub(crate) fn trace_block<T: Accumulator + Value>(
        &self, trial: &Trial<T>, warp: Option<u32>, max_steps: usize,
    ) -> Option<BlockTrace> {
        let buffers = self.place(trial.buffers()).ok()?;
        let request = self.request(trial, &buffers, CheckLevel::Count, &self.launch_setup(trial.shape));
        let selection = TraceSelection { block: [0; 3], warp, max_steps };
        let traced = request.ok().and_then(|request| self.gpu.trace(&self.kernel, &request, selection).ok());
        self.free(&buffers);
        let (report, steps) = traced?;
        Some(BlockTrace { report, steps, buffers })
    }

    pub(crate) fn kernel(&self) -> &LoadedKernel {
        &self.kernel
    }

    /// Predicts a launch of `code`, which must be the loaded machine code, on a GPU. The timeline has the issues of the
    /// schedulers for some clocks in the middle of it.
    pub fn predict<T: Accumulator + Value>(
        &self, trial: &Trial<T>, code: &sass::CubinKernel, clocks: u64,
    ) -> Result<(timing::Prediction, timing::Timeline), JudgeError> {
        let buffers = self.place(trial.buffers()).map_err(|refused| refused.text)?;
        let setup = self.launch_setup(trial.shape);
        let request = self.request(trial, &buffers, CheckLevel::Off, &setup);
        let request = request.map_err(|refused| JudgeError::from(refused.text));
        let predicted = request.and_then(|request| {
            let loaded = timing::LoadedCode { code, kernel: &self.kernel, gpu: &self.gpu };
            Ok(timing::predict_with_timeline(timing::Chip::h200(), loaded, &request, clocks)?)
        });
        self.free(&buffers);
        predicted
    }

    /// Launches once with these parameters, and returns the report with the contents of the buffers.
    pub(crate) fn launch_with(
        &self, parameters: Vec<Parameter>, setup: &LaunchSetup,
    ) -> Result<(Report, Vec<Vec<u8>>), Box<Finding>> {
        let contents = parameters.iter().zip(&setup.arguments).filter_map(|(parameter, name)| match parameter {
            Parameter::Buffer(bytes) => Some((name.as_str(), bytes.clone())),
            Parameter::Number(_) => None,
        });
        let buffers = self.place(contents.clone())?;
        let mut addresses = buffers.iter();
        let arguments = parameters.iter().map(|parameter| match parameter {
            Parameter::Buffer(_) => Argument::from(addresses.next().copied().unwrap_or_default()),
            Parameter::Number(bytes) => Argument(bytes.clone()),
        });
        let ran =
            self.launch_request(&arguments.collect::<Vec<_>>(), CheckLevel::CheckedWithGlobalRaces, setup, u64::MAX);
        let ran = ran.and_then(|request| match self.gpu.launch(&self.kernel, &request) {
            Ok(report) => {
                let read = |((_, bytes), address): ((_, Vec<u8>), &u64)| self.gpu.read(*address, bytes.len());
                Ok((Report::new(report, &self.kernel, &request), contents.zip(&buffers).map(read).collect()))
            }
            Err(refused) => Err(Box::new(diagnostics::refusal(self.kernel.kernel(), &request, &refused))),
        });
        self.free(&buffers);
        ran
    }

    /// Allocates and fills buffers. It fails when the module's variables leave too little memory.
    fn place<'b>(&self, contents: impl Iterator<Item = (&'b str, Vec<u8>)>) -> Result<Vec<u64>, Box<Finding>> {
        let mut buffers = Vec::new();
        for (name, bytes) in contents {
            match self.gpu.memory.alloc(bytes.len() as u64, Origin::new(name)) {
                Ok(address) => {
                    self.gpu.write_bytes(address, &bytes);
                    buffers.push(address);
                }
                Err(error) => {
                    self.free(&buffers);
                    return Err(not_attempted(format!(
                        "the variables of the module leave no room for the operands: {error}"
                    )));
                }
            }
        }
        Ok(buffers)
    }

    fn free(&self, buffers: &[u64]) {
        for address in buffers {
            // Just allocated, and freed nowhere else.
            let _ = self.gpu.memory.free(*address);
        }
    }

    fn request<T: Accumulator + Value>(
        &self, trial: &Trial<T>, buffers: &[u64], check_level: CheckLevel, setup: &LaunchSetup,
    ) -> Result<LaunchRequest, Box<Finding>> {
        let argument = |name: &String| match trial.argument(name) {
            _ if !cfg!(feature = "scalar") && name.contains(':') => {
                tensor_map(trial, self.request.task.work, buffers, name).map_err(not_attempted)
            }
            Some(reference::Argument::Int(value)) => Ok(Argument::from(value)),
            Some(reference::Argument::Float(value)) => Ok(Argument::from(value)),
            Some(reference::Argument::Buffer(at)) => Ok(Argument::from(buffers.get(at).copied().unwrap_or_default())),
            None => Err(not_attempted(format!("there is no argument `{name}`"))),
        };
        let arguments: Vec<Argument> = setup.arguments.iter().map(argument).collect::<Result<_, _>>()?;
        let batch = self.request.task.work.batch() as u64;
        self.launch_request(&arguments, check_level, setup, self.patience * batch * trial.shape.budget())
    }

    fn launch_request(
        &self, arguments: &[Argument], check_level: CheckLevel, setup: &LaunchSetup, budget: u64,
    ) -> Result<LaunchRequest, Box<Finding>> {
        let (given, wanted) = (arguments.len(), self.kernel.kernel().params.len());
        if given != wanted {
            return Err(not_attempted(format!("{given} arguments, and the kernel takes {wanted}")));
        }
        let params = self.kernel.param_block(arguments).map_err(|error| {
            let name = &setup.arguments[error.index];
            not_attempted(format!(
                "argument {}, `{name}`, has {} bytes, and its parameter {}",
                error.index + 1,
                error.given,
                error.wanted
            ))
        })?;
        Ok(LaunchRequest {
            grid: setup.grid,
            block: setup.block,
            dynamic_shared: self.request.task.dynamic_shared,
            params,
            options: LaunchOptions {
                check_level,
                budget: NonZeroU64::new(budget.min(self.request.max_instructions)),
                threads: NonZeroUsize::new(self.request.threads),
                names: self.names.clone(),
                ..LaunchOptions::default()
            },
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSetup {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Argument names, in order; `A:64x128/128` is a tensor map of A, with boxes of 64 columns and 128 rows, and a
    /// swizzle of 128 bytes.
    pub arguments: Vec<String>,
}

fn not_attempted(title: String) -> Box<Finding> {
    Box::new(diagnostics::not_attempted(&title))
}
