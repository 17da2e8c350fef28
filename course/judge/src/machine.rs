//! A module on the emulated GPU, and launches of its kernel.

use std::sync::Arc;

use catalog::Shape;
use diagnostics::Report;
use harness::inputs::Sums;
use simt::gpu::{Argument, Gpu, Value};
use simt::launch::{LaunchConfig, LaunchOptions, Names, Watch};
use simt::memory::Origin;
use simt::module::{LoadedKernel, Module};
use simt::report::LaunchReport;
use simt::trace::{Follow, Step};

use crate::Request;
use crate::trial::Trial;

/// The loaded kernel of a task.
#[derive(Debug)]
pub struct Machine<'a> {
    request: &'a Request<'a>,
    gpu: Gpu,
    kernel: Arc<LoadedKernel>,
    /// Its variables live as long as it does.
    _module: Module,
    names: Names,
}

/// Why nothing can be launched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The PTX is refused.
    #[error("{0}")]
    NotLoaded(String),
    /// It has no kernel of that name, or one with other parameters.
    #[error("{0}")]
    NoEntry(String),
}

/// Memory of the device: the operands of the largest shape several times over.
const ROOM: u64 = 1 << 30;

impl<'a> Machine<'a> {
    /// Loads the PTX.
    ///
    /// # Errors
    /// When there is nothing that could be launched.
    pub fn new(request: &'a Request<'a>) -> Result<Self, Stopped> {
        let gpu = Gpu::with_memory(ROOM);
        let module: Module = gpu
            .load(request.ptx)
            .map_err(|error| Stopped::NotLoaded(error.to_string()))?;
        Self::of(request, gpu, module)
    }

    /// Loads machine code in place of the PTX.
    ///
    /// # Errors
    /// When there is nothing that could be launched.
    pub fn of_code(request: &'a Request<'a>, code: &sass::Module) -> Result<Self, Stopped> {
        let gpu = Gpu::with_memory(ROOM);
        let module = Module::load_machine_code(&gpu.memory, code, None)
            .map_err(|error| Stopped::NotLoaded(error.to_string()))?;
        Self::of(request, gpu, module)
    }

    fn of(request: &'a Request<'a>, gpu: Gpu, module: Module) -> Result<Self, Stopped> {
        let task = request.task;
        let Some(kernel) = module.kernel(&task.entry) else {
            let names: Vec<&str> = module
                .kernels()
                .iter()
                .map(|kernel| kernel.kernel().name.as_str())
                .collect();
            let there = match names.is_empty() {
                true => "there is no kernel at all".to_owned(),
                false => format!("there is {}", names.join(", ")),
            };
            return Err(Stopped::NoEntry(format!(
                "there is no kernel called {}; {there} (is it declared extern \"C\" __global__?)",
                task.entry
            )));
        };
        let kernel = Arc::clone(kernel);
        let bytes: Vec<u32> = kernel.kernel().params.iter().map(|param| param.bytes).collect();
        if bytes != task.work.parameter_bytes() {
            let wanted = task.work.parameters().iter();
            let wanted: Vec<String> = wanted.map(|(kind, name)| format!("{kind} {name}")).collect();
            return Err(Stopped::NoEntry(format!(
                "{} has other parameters than ({})",
                task.entry,
                wanted.join(", ")
            )));
        }
        let params = task.work.parameters().iter().map(|(_, name)| (*name).to_owned());
        let sources = request.sources.iter();
        Ok(Self {
            names: Names {
                params: params.collect(),
                sources: sources
                    .map(|(name, text)| (name.clone(), Arc::from(text.as_str())))
                    .collect(),
            },
            request,
            gpu,
            kernel,
            _module: module,
        })
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.request
            .task
            .block
            .iter()
            .fold(1, |all, n| all.saturating_mul(*n))
    }

    /// Static shared memory of a block.
    pub fn static_shared_bytes(&self) -> u32 {
        self.kernel.kernel().shared_static_bytes
    }

    /// Launches once, and returns the report with what lies in the output.
    ///
    /// # Errors
    /// With the message when the launch is refused.
    pub fn launch<T: Sums + Value>(
        &self,
        trial: &Trial<T>,
        watch: Watch,
        how: &How,
    ) -> Result<(Report, Vec<T>), String> {
        let placed = self.place(trial)?;
        let ran = self.config(trial, &placed, watch, how).and_then(|config| {
            match self.gpu.launch(&self.kernel, &config) {
                Ok(report) => Ok((
                    Report::new(report, &self.kernel, &config),
                    self.gpu
                        .read(placed.last().copied().unwrap_or_default(), trial.start.len()),
                )),
                Err(refused) => Err(diagnostics::refusal(self.kernel.kernel(), &config, &refused)),
            }
        });
        self.free(&placed);
        ran
    }

    /// How the task says that its kernel is launched.
    pub fn how(&self, shape: Shape) -> How {
        let task = self.request.task;
        let names = task.work.parameters().iter();
        How {
            grid: task.work.grid(task.tile, shape),
            block: task.block,
            arguments: names.map(|(_, name)| (*name).to_owned()).collect(),
        }
    }

    /// Launches once, and returns the report with the steps of a warp of the first block.
    pub fn trace<T: Sums + Value>(
        &self,
        trial: &Trial<T>,
        warp: u32,
        most: usize,
    ) -> Option<(LaunchReport, Vec<Step>)> {
        let placed = self.place(trial).ok()?;
        let config = self.config(trial, &placed, Watch::Counted, &self.how(trial.shape));
        let follow = Follow {
            block: [0; 3],
            warp,
            most,
        };
        let traced = config.and_then(|config| {
            let traced = self.gpu.trace(&self.kernel, &config, follow);
            traced.map_err(|error| error.to_string())
        });
        self.free(&placed);
        traced.ok()
    }

    /// What a launch of `code`, which is what was loaded, would take on a GPU, and what the schedulers of a multiprocessor
    /// do for some clocks in the middle.
    pub fn predict<T: Sums + Value>(
        &self,
        trial: &Trial<T>,
        code: &sass::Kernel,
        clocks: u64,
    ) -> Result<(timing::Prediction, timing::Timeline), String> {
        let placed = self.place(trial)?;
        let how = self.how(trial.shape);
        let predicted = self
            .config(trial, &placed, Watch::Plain, &how)
            .and_then(|config| {
                let chip = timing::Chip::h200();
                timing::predict_with_timeline(chip, &self.gpu, code, &self.kernel, &config, clocks)
                    .map_err(|why| why.to_string())
            });
        self.free(&placed);
        predicted
    }

    /// Puts the operands into memory; without room, because the module's variables take it, why.
    fn place<T: Sums + Value>(&self, trial: &Trial<T>) -> Result<Vec<u64>, String> {
        let mut placed = Vec::new();
        for (values, name) in trial.inputs.iter().zip(["A", "B"]).chain([(&trial.start, "C")]) {
            let bytes = (values.len() * T::BYTES) as u64;
            match self.gpu.memory.alloc(bytes, Origin::new(name)) {
                Ok(address) => {
                    self.gpu.write(address, values);
                    placed.push(address);
                }
                Err(error) => {
                    self.free(&placed);
                    return Err(format!(
                        "error[E-LAUNCH]: the variables of the module leave no room for the operands: {error}"
                    ));
                }
            }
        }
        Ok(placed)
    }

    fn free(&self, placed: &[u64]) {
        for address in placed {
            // Just allocated, and freed nowhere else.
            let _ = self.gpu.memory.free(*address);
        }
    }

    fn config<T: Sums + Value>(
        &self,
        trial: &Trial<T>,
        placed: &[u64],
        watch: Watch,
        how: &How,
    ) -> Result<LaunchConfig, String> {
        let task = self.request.task;
        let Shape { m, n, k } = trial.shape;
        let size = |n: usize| Argument::from(i32::try_from(n).unwrap_or(i32::MAX));
        let operand = |at: usize| Argument::from(placed.get(at).copied().unwrap_or_default());
        let output = placed.len().saturating_sub(1);
        let argument = |name: &String| match name.as_str() {
            "M" | "rows" => Ok(size(m)),
            "N" | "cols" => Ok(size(n)),
            "K" => Ok(size(k)),
            "alpha" => Ok(Argument::from(trial.alpha)),
            "beta" => Ok(Argument::from(trial.beta)),
            "A" | "in" => Ok(operand(0)),
            "B" if output > 1 => Ok(operand(1)),
            "C" | "out" => Ok(operand(output)),
            other => Err(format!("error[E-LAUNCH]: there is no argument `{other}`")),
        };
        let arguments: Vec<Argument> = how.arguments.iter().map(argument).collect::<Result<_, _>>()?;
        let kernel = self.kernel.kernel();
        let (given, wanted) = (arguments.len(), kernel.params.len());
        if given != wanted {
            return Err(format!(
                "error[E-LAUNCH]: {given} arguments, and the kernel takes {wanted}"
            ));
        }
        let params = Gpu::params(kernel, &arguments).map_err(|error| {
            let name = &how.arguments[error.index];
            format!(
                "error[E-LAUNCH]: argument {}, `{name}`, has {} bytes, and its parameter {}",
                error.index + 1,
                error.given,
                error.wanted
            )
        })?;
        Ok(LaunchConfig {
            grid: how.grid,
            block: how.block,
            dynamic_shared: task.dynamic_shared,
            params,
            options: LaunchOptions {
                watch,
                budget: budget(trial.shape, task.work.batch()),
                threads: self.request.threads,
                names: self.names.clone(),
                ..LaunchOptions::default()
            },
        })
    }
}

/// How a kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct How {
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Names of the arguments, in order.
    pub arguments: Vec<String>,
}

/// Thread-instructions after which a launch counts as runaway: many times what the slowest kernel of the ladder needs.
fn budget(shape: Shape, batch: usize) -> u64 {
    const LEAST: f64 = 2e7;
    const EACH: f64 = 400.0;
    (batch as f64 * (LEAST + EACH * shape.volume())) as u64
}
