//! A module on the emulated GPU, and launches of its kernel.

use std::sync::Arc;

use findings::Report;
use lab::inputs::Real;
use ladder::Shape;
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The PTX is refused.
    NotLoaded(String),
    /// It has no kernel of that name, or one with other parameters.
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
        let task = request.task;
        let gpu = Gpu::with_room(ROOM);
        let module: Module = gpu
            .load(request.ptx)
            .map_err(|error| Stopped::NotLoaded(error.to_string()))?;
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

    /// Launches once, and returns the report with what lies in the output.
    ///
    /// # Errors
    /// With the message when the launch is refused.
    pub fn launch<T: Real + Value>(
        &self,
        trial: &Trial<T>,
        watch: Watch,
    ) -> Result<(Report, Vec<T>), String> {
        let placed = self.place(trial)?;
        let config = self.config(trial, &placed, watch);
        let result = match self.gpu.launch(&self.kernel, &config) {
            Ok(report) => Ok((
                Report::new(report, &self.kernel, &config),
                self.gpu
                    .read(placed.last().copied().unwrap_or_default(), trial.start.len()),
            )),
            Err(refused) => Err(findings::refusal(self.kernel.kernel(), &config, &refused)),
        };
        self.free(&placed);
        result
    }

    /// Launches once, and returns the report with the steps of a warp of the first block.
    pub fn trace<T: Real + Value>(
        &self,
        trial: &Trial<T>,
        warp: u32,
        most: usize,
    ) -> Option<(LaunchReport, Vec<Step>)> {
        let placed = self.place(trial).ok()?;
        let config = self.config(trial, &placed, Watch::Counted);
        let follow = Follow {
            block: [0; 3],
            warp,
            most,
        };
        let traced = self.gpu.trace(&self.kernel, &config, follow).ok();
        self.free(&placed);
        traced
    }

    /// Puts the operands into memory; without room, because the module's variables take it, why.
    fn place<T: Real + Value>(&self, trial: &Trial<T>) -> Result<Vec<u64>, String> {
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

    fn config<T: Real + Value>(&self, trial: &Trial<T>, placed: &[u64], watch: Watch) -> LaunchConfig {
        let task = self.request.task;
        let Shape { m, n, k } = trial.shape;
        let size = |n: usize| Argument::from(i32::try_from(n).unwrap_or(i32::MAX));
        let mut inputs = placed.iter();
        let output = placed.last().copied().unwrap_or_default();
        let arguments: Vec<Argument> = task
            .work
            .parameters()
            .iter()
            .map(|(_, name)| match *name {
                "M" | "rows" => size(m),
                "N" | "cols" => size(n),
                "K" => size(k),
                "alpha" => Argument::from(trial.alpha),
                "beta" => Argument::from(trial.beta),
                "C" | "out" => Argument::from(output),
                _ => Argument::from(inputs.next().copied().unwrap_or_default()),
            })
            .collect();
        LaunchConfig {
            grid: task.work.grid(task.tile, trial.shape),
            block: task.block,
            dynamic_shared: task.dynamic_shared,
            params: Gpu::params(self.kernel.kernel(), &arguments).unwrap_or_default(),
            options: LaunchOptions {
                watch,
                budget: budget(trial.shape, task.work.batch()),
                threads: self.request.threads,
                names: self.names.clone(),
                ..LaunchOptions::default()
            },
        }
    }
}

/// Thread-instructions after which a launch counts as runaway: many times what the slowest kernel of the ladder needs.
fn budget(shape: Shape, batch: usize) -> u64 {
    const LEAST: f64 = 2e7;
    const EACH: f64 = 400.0;
    (batch as f64 * (LEAST + EACH * shape.volume())) as u64
}
