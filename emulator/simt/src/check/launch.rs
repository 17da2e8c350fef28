//! Launches that cannot start: `E-LAUNCH`.
//!
//! The limits are those of compute capability 9.0, which the emulated device reports.

use crate::finding::Code;
use crate::launch::{LaunchConfig, LaunchRefused};
use crate::program::Kernel;

use super::render::{header, paragraph, plain_name, plural, size};

/// Most threads in a block.
pub const MAX_THREADS: u32 = 1024;
/// Limits of a block's dimensions.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Limits of a grid's dimensions.
pub const MAX_GRID: [u32; 3] = [0x7FFF_FFFF, 65535, 65535];
/// Shared memory of a block without asking for more.
pub const MAX_SHARED: u32 = 48 * 1024;
/// Shared memory of a block that asked for it (`cuFuncSetAttribute`).
pub const MAX_SHARED_OPT_IN: u32 = 227 * 1024;

/// Checks a launch before it starts. `allowed_dynamic` is the dynamic shared memory that the kernel was
/// given by `cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)`, `None` when it was never asked for.
pub fn check(
    kernel: &Kernel,
    config: &LaunchConfig,
    allowed_dynamic: Option<u32>,
) -> Result<(), LaunchRefused> {
    let (grid, block) = (config.grid, config.block);
    if grid.contains(&0) || block.contains(&0) {
        let what = if grid.contains(&0) { "grid" } else { "block" };
        return Err(LaunchRefused::InvalidConfiguration(message(
            kernel,
            &format!(
                "the {what} has no {}",
                if what == "grid" { "blocks" } else { "threads" }
            ),
            &[format!(
                "grid {}, block {}: every dimension must be at least 1.",
                triple(grid),
                triple(block)
            )],
            "round up when dividing: (n + block - 1) / block is 0 only for n = 0, which needs no launch.",
            "invalid argument",
        )));
    }
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    if threads > u64::from(MAX_THREADS) || beyond(block, MAX_BLOCK) {
        let what = match threads > u64::from(MAX_THREADS) {
            true => format!(
                "a block of {} = {threads} threads is larger than any GPU allows ({MAX_THREADS})",
                size(block)
            ),
            false => {
                format!(
                    "a block of {} is larger than a GPU allows; the limits are {}",
                    triple(block),
                    triple(MAX_BLOCK)
                )
            }
        };
        return Err(LaunchRefused::InvalidConfiguration(message(
            kernel,
            &what,
            &[],
            "use smaller blocks, such as 16x16 or 256, and more of them.",
            "invalid argument",
        )));
    }
    if beyond(grid, MAX_GRID) {
        let [x, y, z] = MAX_GRID;
        return Err(LaunchRefused::InvalidConfiguration(message(
            kernel,
            &format!("a grid of {} blocks is larger than a GPU allows", triple(grid)),
            &[format!("The limits are {x} in x, {y} in y and {z} in z.")],
            "put the longest dimension in x.",
            "invalid argument",
        )));
    }
    bounds(kernel, block, threads)?;
    shared(kernel, config, allowed_dynamic)
}

fn bounds(kernel: &Kernel, block: [u32; 3], threads: u64) -> Result<(), LaunchRefused> {
    let name = plain_name(&kernel.name);
    if let Some(required) = kernel.required_threads.filter(|required| *required != block) {
        return Err(LaunchRefused::InvalidConfiguration(message(
            kernel,
            &format!("`{name}` is compiled for blocks of {} threads", size(required)),
            &[format!("This launch has blocks of {}.", size(block))],
            "launch it with the block that it requires (.reqntid).",
            "invalid argument",
        )));
    }
    let Some(most) = kernel.max_threads else {
        return Ok(());
    };
    let limit: u64 = most.iter().map(|&n| u64::from(n.max(1))).product();
    if threads <= limit {
        return Ok(());
    }
    Err(LaunchRefused::InvalidConfiguration(message(
        kernel,
        &format!("`{name}` is compiled for at most {limit} threads per block"),
        &[format!(
            "This launch has blocks of {threads} threads; the kernel says __launch_bounds__({limit}), so the compiler may \
             give each thread so many registers that no more threads fit."
        )],
        &format!("launch blocks of {limit} threads, or raise __launch_bounds__."),
        "invalid argument",
    )))
}

fn shared(kernel: &Kernel, config: &LaunchConfig, allowed_dynamic: Option<u32>) -> Result<(), LaunchRefused> {
    let fixed = u64::from(kernel.shared_static_bytes);
    let dynamic = u64::from(config.dynamic_shared);
    let total = fixed + dynamic;
    let parts = match (fixed, dynamic) {
        (_, 0) => format!("{fixed} bytes of __shared__ arrays"),
        (0, _) => format!("{dynamic} bytes of dynamic shared memory"),
        _ => format!(
            "{fixed} bytes of __shared__ arrays and {dynamic} of dynamic shared memory: {total} together"
        ),
    };
    if total > u64::from(MAX_SHARED_OPT_IN) {
        return Err(LaunchRefused::OutOfResources(message(
            kernel,
            "a block needs more shared memory than there is",
            &[format!(
                "{parts}; a block can have {MAX_SHARED_OPT_IN} bytes (227 KiB) at most."
            )],
            "use smaller tiles.",
            "invalid argument",
        )));
    }
    let allowed = allowed_dynamic.map_or(u64::from(MAX_SHARED), |allowed| {
        u64::from(MAX_SHARED).max(u64::from(allowed) + fixed)
    });
    if total <= allowed {
        return Ok(());
    }
    let advice = match allowed_dynamic {
        _ if dynamic == 0 => "use smaller tiles, or dynamic shared memory (extern __shared__).".to_owned(),
        _ => format!(
            "allow it once before the launch: set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {dynamic})."
        ),
    };
    Err(LaunchRefused::InvalidConfiguration(message(
        kernel,
        "a block needs more than 48 KiB of shared memory, and the kernel was not allowed to",
        &[format!(
            "{parts}; without asking, a block gets {MAX_SHARED} bytes at most."
        )],
        &advice,
        "invalid argument",
    )))
}

/// The parameter block has the wrong size.
pub fn parameter_bytes(kernel: &Kernel, given: usize) -> LaunchRefused {
    LaunchRefused::InvalidParameters(message(
        kernel,
        &format!(
            "the arguments of `{}` have the wrong size",
            plain_name(&kernel.name)
        ),
        &[
            format!(
                "{given} bytes were given, the kernel takes {}.",
                kernel.param_bytes
            ),
            takes(kernel),
        ],
        "give the arguments in the order of the kernel, each in its type (an `int` is i32, a `size_t` u64).",
        "invalid argument",
    ))
}

/// The kernel takes another number of parameters than the launch gave.
pub fn parameter_count(kernel: &Kernel, given: usize) -> LaunchRefused {
    let n = kernel.params.len();
    LaunchRefused::InvalidParameters(message(
        kernel,
        &format!(
            "`{}` takes {n} {}, and {given} {} given",
            plain_name(&kernel.name),
            plural(n as u64, "argument"),
            if given == 1 { "was" } else { "were" }
        ),
        &[takes(kernel)],
        "give one argument for each parameter, in order.",
        "invalid argument",
    ))
}

/// `Its parameters: 4 bytes, 4 bytes, pointer, pointer.`
fn takes(kernel: &Kernel) -> String {
    let pointers: Vec<bool> = kernel.params.iter().map(|param| param.maybe_pointer).collect();
    let parts: Vec<String> = kernel
        .params
        .iter()
        .zip(pointers)
        .map(|(param, pointer)| match pointer {
            true => "8 bytes (a pointer or a 64-bit number)".to_owned(),
            false => format!("{} {}", param.bytes, plural(u64::from(param.bytes), "byte")),
        })
        .collect();
    match parts.is_empty() {
        true => "It has no parameters.".into(),
        false => format!("Its parameters, in order: {}.", parts.join(", ")),
    }
}

fn message(kernel: &Kernel, title: &str, notes: &[String], advice: &str, words: &str) -> String {
    let mut text = header(Code::Launch, title, "");
    paragraph(
        &mut text,
        "",
        &format!("Launch of `{}`, which did not start.", plain_name(&kernel.name)),
    );
    for note in notes {
        paragraph(&mut text, "", note);
    }
    paragraph(&mut text, "Try: ", advice);
    paragraph(
        &mut text,
        "On a GPU: ",
        &format!("the same; CUDA's own words are \"{words}\"."),
    );
    text.truncate(text.trim_end().len());
    text
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

fn beyond(size: [u32; 3], limit: [u32; 3]) -> bool {
    size.iter().zip(limit).any(|(&size, limit)| size > limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::kernel;
    use crate::launch::LaunchOptions;

    fn refusal(grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> String {
        let mut kernel = kernel(&[1]);
        kernel.name = "scale".into();
        kernel.max_threads = Some([512, 1, 1]);
        let options = LaunchOptions::default();
        let config = LaunchConfig {
            grid,
            block,
            dynamic_shared,
            params: Vec::new(),
            options,
        };
        check(&kernel, &config, None)
            .err()
            .map(|refused| refused.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_launch_within_the_limits_is_not_refused() {
        assert_eq!(refusal([1, 1, 1], [512, 1, 1], 49152), "");
    }

    #[test]
    fn each_refusal_says_what_and_what_to_do() {
        let all = [
            refusal([0, 1, 1], [32, 1, 1], 0),
            refusal([1, 1, 1], [33, 32, 1], 0),
            refusal([1, 1, 1], [1, 1, 65], 0),
            refusal([1, 70000, 1], [1, 1, 1], 0),
            refusal([1, 1, 1], [1024, 1, 1], 0),
            refusal([1, 1, 1], [32, 1, 1], 49153),
            refusal([1, 1, 1], [32, 1, 1], 300_000),
            parameter_count(&kernel(&[1]), 3).to_string(),
        ];
        insta::assert_snapshot!(all.join("\n\n"));
    }
}
