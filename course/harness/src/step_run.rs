//! One run of a step's program: its kernels, the options, and the device.

use catalog::files::{FileError, read_limited};
use step_cli::{Kernels, Lang};

use crate::device::{self, DeviceChoice, Gpu};
use crate::error::StepError;
use crate::kernel::{Kernel, LaunchFn, LaunchKind};
use crate::{args, run};
use crate::{measure::setup::Cubins, timing::duel};

/// The state of the program that all of its commands work with.
pub(crate) struct StepRun<'a> {
    pub step: &'static catalog::Step,
    pub kernels: Vec<&'a Kernel>,
    pub common: args::Common,
    /// PTX in place of the step's own.
    pub ptx: Option<String>,
    pub cubins: Cubins,
    /// Plan of duels, where kernels and yardsticks also run in turns.
    pub duel: Option<duel::Plan>,
    /// The run that records refer to.
    pub run: records::Run,
    pub(crate) gpu: Option<Gpu>,
}

impl<'a> StepRun<'a> {
    pub(crate) fn new(
        step: &'static catalog::Step, kernels: &'a [Kernel], common: &args::Common,
    ) -> Result<Self, StepError> {
        let mut kernels = choose(step, kernels, common)?;
        let ptx = common.ptx.as_deref().map(read_ptx).transpose()?;
        let cubins = Cubins {
            own: common.cubin.as_deref().map(read).transpose()?,
            before: common.before.iter().map(|path| read(path)).collect::<Result<_, _>>()?,
        };
        if let Some((path, text)) = common.ptx.as_ref().zip(ptx.as_ref()) {
            kernels.retain(|kernel| text.contains(&format!(".entry {}(", kernel.name)));
            if kernels.is_empty() {
                let path = path.display();
                return Err(StepError::CouldNot(format!("{path} has none of the kernels of {}", step.id)));
            }
        }
        device::choose_driver(DeviceChoice::from_option(common.device.emulate)?)?;
        let gpu = Gpu::open()?;
        if let Some(emulator) = gpu.emulator {
            pass_names(emulator, &kernels);
        }
        Ok(Self {
            run: run::describe(step.id, &gpu),
            common: common.clone(),
            step,
            kernels,
            ptx,
            cubins,
            duel: None,
            gpu: Some(gpu),
        })
    }

    /// Returns the device, opened again after a kernel broke its context.
    pub(crate) fn gpu(&mut self) -> Result<&Gpu, StepError> {
        match &mut self.gpu {
            Some(gpu) => Ok(gpu),
            none => Ok(none.insert(Gpu::open()?)),
        }
    }

    /// Drops a context that a kernel broke; the next call of [`StepRun::gpu`] opens another.
    pub(crate) fn discard_gpu(&mut self) {
        self.gpu = None;
    }
}

/// Returns the requested kernels, in the order of the catalogue.
fn choose<'a>(
    step: &'static catalog::Step, kernels: &'a [Kernel], common: &args::Common,
) -> Result<Vec<&'a Kernel>, StepError> {
    let Kernels { kernel: part, lang } = &common.kernels;
    let kernels = || kernels.iter().filter(|kernel| *lang == Lang::Both || kernel.is_rust == (*lang == Lang::Rust));
    let wanted = |name: &str| part.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let chosen: Vec<_> = kernels().filter(|kernel| wanted(&kernel.shown_name())).collect();
    let names: Vec<_> = kernels().map(Kernel::shown_name).collect();
    if names.is_empty() {
        let why = format!("{} has no kernels in Rust; v01 to v08 have", step.id);
        return Err(StepError::Usage(why));
    }
    if chosen.is_empty() {
        let part = part.as_deref().unwrap_or_default();
        return Err(StepError::Usage(format!("{} has no kernel `{part}`; it has {}", step.id, names.join(", "))));
    }
    Ok(chosen)
}

fn read(path: &std::path::Path) -> Result<Vec<u8>, StepError> {
    /// The largest PTX and machine code here have a hundredth of it.
    const MAX_BYTES: u64 = 256 << 20;
    Ok(read_limited(path, MAX_BYTES).map_err(FileError::at(path))?)
}

fn read_ptx(path: &std::path::Path) -> Result<String, StepError> {
    let bytes = read(path)?;
    String::from_utf8(bytes).map_err(|_| StepError::CouldNot(format!("{} is not text", path.display())))
}

/// Passes sources and parameter names to the emulated device, whose messages show them.
fn pass_names(emulator: emulator_client::Emulator, kernels: &[&Kernel]) {
    for kernel in kernels {
        let names: &[&str] = match kernel.kind {
            LaunchKind::Device { launch: LaunchFn::Transpose(_), .. } => &["rows", "cols", "in", "out"],
            _ => &["M", "N", "K", "A", "B", "C"],
        };
        emulator.name_parameters(Some(kernel.name), names);
        if let Some((code, path)) = kernel.code().and_then(|code| Some((code, source_path(code.ptx)?))) {
            emulator.add_source(path, code.text);
        }
    }
}

/// Returns the path of the source, `kernels/v05_….cu`, from the header of its PTX.
pub(crate) fn source_path(ptx: &str) -> Option<&str> {
    let line = ptx.lines().find_map(|line| line.strip_prefix("// source: "))?;
    line.split_whitespace().next()
}
