//! Arguments of directives that name a step, a kernel of the ladder, or a size.

use catalog::{Kernel, STEPS, Shape, Step, WrongSize};

pub(crate) fn find_step(step: &str) -> Result<&'static Step, String> {
    catalog::find(step).map_err(|error| error.to_string())
}

/// Finds a kernel of the ladder and its step by the kernel's name.
pub(crate) fn find_kernel(kernel: &str) -> Result<(&'static Step, &'static Kernel), String> {
    let all = || STEPS.iter().flat_map(|step| step.kernels.iter().map(move |k| (step, k)));
    all().find(|(_, k)| k.name == kernel).ok_or_else(|| {
        let step = STEPS.iter().find(|step| kernel.contains(step.id));
        let names: Vec<&str> = step.map_or(Vec::new(), |s| s.kernels.iter().map(|k| k.name).collect());
        match names.is_empty() {
            true => format!("there is no kernel `{kernel}` (see: cargo xtask list)"),
            false => format!("there is no kernel `{kernel}`; {} has {}", kernel_step(step), names.join(", ")),
        }
    })
}

fn kernel_step(step: Option<&Step>) -> &'static str {
    step.map_or("it", |step| step.id)
}

/// Parses the size of a kernel: `4096`, `1025x1023x1021`, or for transposes `1000x3000`.
pub(crate) fn parse_shape(kernel: &str, size: &str) -> Result<Shape, String> {
    let (_, kernel) = find_kernel(kernel)?;
    let size: Shape = size.parse().map_err(|error: WrongSize| error.to_string())?;
    size.check_suits(kernel.name, [kernel.work]).map_err(|error| error.to_string())?;
    Ok(kernel.work.shape(size).unwrap_or(size))
}
