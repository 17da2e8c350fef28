//! Launches that cannot start: `E-LAUNCH`.

use simt::check::Code;
use simt::launch::{
    LaunchConfig, LaunchRefused, MAX_BLOCK, MAX_GRID, MAX_SHARED, MAX_SHARED_OPT_IN, MAX_THREADS,
};
use simt::program::limits::LOCAL_BYTES;
use simt::program::{Kernel, Param};

use crate::launch_context::{header, paragraph};
use crate::source::text::plain_name;
use crate::words::{count, plural, size};

/// Message that says why a launch did not start, as printed.
pub fn refusal(kernel: &Kernel, config: &LaunchConfig, refused: &LaunchRefused) -> String {
    let (grid, block) = (config.grid, config.block);
    let name = plain_name(&kernel.name);
    match *refused {
        LaunchRefused::NoBlocks | LaunchRefused::NoThreads => {
            let title = match refused {
                LaunchRefused::NoBlocks => "the grid has no blocks",
                _ => "the block has no threads",
            };
            message(
                kernel,
                title,
                &[format!(
                    "grid {}, block {}: every dimension must be at least 1.",
                    triple(grid),
                    triple(block)
                )],
                "round up when dividing: (n + block - 1) / block is 0 only for n = 0, which needs no launch.",
            )
        }
        LaunchRefused::ManyThreads { threads } => message(
            kernel,
            &format!(
                "a block of {} = {threads} threads is larger than any GPU allows ({MAX_THREADS})",
                size(block)
            ),
            &[],
            SMALLER_BLOCKS,
        ),
        LaunchRefused::LargeBlock => message(
            kernel,
            &format!(
                "a block of {} is larger than a GPU allows; the limits are {}",
                triple(block),
                triple(MAX_BLOCK)
            ),
            &[],
            SMALLER_BLOCKS,
        ),
        LaunchRefused::LargeGrid => {
            let [x, y, z] = MAX_GRID;
            message(
                kernel,
                &format!("a grid of {} blocks is larger than a GPU allows", triple(grid)),
                &[format!("The limits are {x} in x, {y} in y and {z} in z.")],
                "put the longest dimension in x.",
            )
        }
        LaunchRefused::OtherBlock { required } => message(
            kernel,
            &format!("`{name}` is compiled for blocks of {} threads", size(required)),
            &[format!("This launch has blocks of {}.", size(block))],
            "launch it with the block that it requires (.reqntid).",
        ),
        LaunchRefused::AboveLaunchBounds { threads, limit } => message(
            kernel,
            &format!("`{name}` is compiled for at most {limit} threads per block"),
            &[format!(
                "This launch has blocks of {threads} threads; the kernel says __launch_bounds__({limit}), so the compiler \
                 may give each thread so many registers that no more threads fit."
            )],
            &format!("launch blocks of {limit} threads, or raise __launch_bounds__."),
        ),
        LaunchRefused::GridOfClusters { cluster } => of_clusters(
            kernel,
            &format!("a grid of {} blocks cannot be made of clusters of {}", triple(grid), triple(cluster)),
            &["Each dimension of the grid must be a multiple of the clusters'.".to_owned()],
            "round the grid up to whole clusters, and let the blocks beyond the data do nothing.",
        ),
        LaunchRefused::ClusterSize { cluster, most } => of_clusters(
            kernel,
            &format!("clusters of {} blocks cannot be", triple(cluster)),
            &[format!(
                "A cluster has at least 1 and at most {most} blocks here; 8 is what every device allows, more must be asked for."
            )],
            "use smaller clusters, or set CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED for up to 16.",
        ),
        LaunchRefused::OtherCluster { required } => of_clusters(
            kernel,
            &match kernel.cluster.required {
                Some(_) => format!("`{name}` is compiled for clusters of {}", triple(required)),
                None => format!("`{name}` is set to clusters of {}", triple(required)),
            },
            &["This launch asks for others.".to_owned()],
            match kernel.cluster.required {
                Some(_) => {
                    "leave CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION out, or give it the numbers of __cluster_dims__."
                }
                None => {
                    "leave CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION out, or give it the numbers of \
                     CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, _HEIGHT and _DEPTH."
                }
            },
        ),
        LaunchRefused::NoCluster => of_clusters(
            kernel,
            &format!("`{name}` must be launched with clusters"),
            &["It is compiled with .explicitcluster, and the launch has no size of clusters.".to_owned()],
            "launch it by cuLaunchKernelEx with CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION.",
        ),
        LaunchRefused::LargeShared => message(
            kernel,
            "a block needs more shared memory than there is",
            &[format!(
                "{}; a block can have {MAX_SHARED_OPT_IN} bytes (227 KiB) at most.",
                shared(kernel, config)
            )],
            "use smaller tiles.",
        ),
        LaunchRefused::SharedNotAllowed => {
            let advice = match config.dynamic_shared {
                0 => "use smaller tiles, or dynamic shared memory (extern __shared__).".to_owned(),
                dynamic => format!(
                    "allow it once before the launch: \
                     set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {dynamic})."
                ),
            };
            message(
                kernel,
                "a block needs more than 48 KiB of shared memory, and the kernel was not allowed to",
                &[format!(
                    "{}; without asking, a block gets {MAX_SHARED} bytes at most.",
                    shared(kernel, config)
                )],
                &advice,
            )
        }
        LaunchRefused::LargeLocal => {
            format!("{} bytes of local memory per thread, and there are {LOCAL_BYTES}", kernel.local_bytes)
        }
        LaunchRefused::LargeMemory { asked, room } => message(
            kernel,
            "a block needs more memory than the emulated GPU has for running it",
            &[format!(
                "A block of {} threads with {} bytes of local memory each takes {asked} bytes; there are {room}.",
                config.block.iter().product::<u32>(),
                kernel.local_bytes
            )],
            "use smaller local arrays or blocks, or raise TILE_MEMORY.",
        ),
        LaunchRefused::ParameterBytes { given } => message(
            kernel,
            &format!("the arguments of `{name}` have the wrong size"),
            &[format!("{given} bytes were given, the kernel takes {}.", kernel.param_bytes), takes(kernel)],
            "give the arguments in the order of the kernel, each in its type (an `int` is i32, a `size_t` u64).",
        ),
        LaunchRefused::ParameterCount { given } => {
            let n = kernel.params.len();
            message(
                kernel,
                &format!(
                    "`{name}` takes {n} {}, and {given} {} given",
                    plural(n as u64, "argument"),
                    if given == 1 { "was" } else { "were" }
                ),
                &[takes(kernel)],
                "give one argument for each parameter, in order.",
            )
        }
    }
}

const SMALLER_BLOCKS: &str = "use smaller blocks, such as 16x16 or 256, and more of them.";

fn shared(kernel: &Kernel, config: &LaunchConfig) -> String {
    let (fixed, dynamic) = (u64::from(kernel.shared_static_bytes), u64::from(config.dynamic_shared));
    match (fixed, dynamic) {
        (_, 0) => format!("{fixed} bytes of __shared__ arrays"),
        (0, _) => format!("{dynamic} bytes of dynamic shared memory"),
        _ => format!(
            "{fixed} bytes of __shared__ arrays and {dynamic} of dynamic shared memory: {} together",
            fixed + dynamic
        ),
    }
}

/// A sentence on a kernel's parameters: `Its parameters, in order: 4 bytes, 8 bytes (a pointer or a 64-bit number).`
fn takes(kernel: &Kernel) -> String {
    let part = |param: &Param| match param.maybe_pointer {
        true => "8 bytes (a pointer or a 64-bit number)".to_owned(),
        false => count(u64::from(param.bytes), "byte"),
    };
    let parts: Vec<String> = kernel.params.iter().map(part).collect();
    match parts.is_empty() {
        true => "It has no parameters.".into(),
        false => format!("Its parameters, in order: {}.", parts.join(", ")),
    }
}

/// Message of a launch whose blocks take more registers than a multiprocessor has, `limit`, as printed.
pub fn too_many_registers(kernel: &Kernel, threads: u32, registers: u32, limit: u32) -> String {
    let mut text = header(
        Code::Launch,
        &format!(
            "{threads} threads x {registers} registers = {} > {limit}, the registers of a multiprocessor",
            threads * registers
        ),
        "",
    );
    let name = plain_name(&kernel.name);
    let facts =
        format!("Launch of `{name}`, which did not start; ptxas gave each thread {registers} registers.");
    paragraph(&mut text, "", &facts);
    paragraph(&mut text, "Try: ", &format!("smaller blocks, or __launch_bounds__({threads})."));
    text.truncate(text.trim_end().len());
    text
}

fn message(kernel: &Kernel, title: &str, notes: &[String], advice: &str) -> String {
    let mut text = header(Code::Launch, title, "");
    paragraph(&mut text, "", &format!("Launch of `{}`, which did not start.", plain_name(&kernel.name)));
    for note in notes {
        paragraph(&mut text, "", note);
    }
    paragraph(&mut text, "Try: ", advice);
    paragraph(&mut text, "On a GPU: ", "the same; CUDA's own words are \"invalid argument\".");
    text.truncate(text.trim_end().len());
    text
}

/// The message of a refusal about clusters, for which a GPU has another reason.
fn of_clusters(kernel: &Kernel, title: &str, notes: &[String], advice: &str) -> String {
    let text = message(kernel, title, notes, advice);
    text.replace("the same; CUDA's own words are \"invalid argument\".", "the launch does not start, either.")
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::launch::{LaunchOptions, check};

    fn words(
        head: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        refused: impl Fn(&Kernel, &LaunchConfig) -> Option<LaunchRefused>,
    ) -> String {
        let loaded = crate::testing::load(&format!(".visible .entry {head} {{ ret; }}"));
        let options = LaunchOptions::default();
        let config = LaunchConfig { grid, block, dynamic_shared, params: Vec::new(), options };
        refused(loaded.kernel(), &config)
            .map(|refused| refusal(loaded.kernel(), &config, &refused))
            .unwrap_or_default()
    }

    fn checked(grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> String {
        words("scale() .maxntid 512, 1, 1", grid, block, dynamic_shared, |kernel, config| {
            check(kernel, config, None).err()
        })
    }

    #[test]
    fn a_launch_within_the_limits_is_not_refused() {
        assert_eq!(checked([1, 1, 1], [512, 1, 1], 49152), "");
    }

    #[test]
    fn each_refusal_says_what_and_what_to_do() {
        let all = [
            checked([0, 1, 1], [32, 1, 1], 0),
            checked([1, 1, 1], [33, 32, 1], 0),
            checked([1, 1, 1], [1, 1, 65], 0),
            checked([1, 70000, 1], [1, 1, 1], 0),
            checked([1, 1, 1], [1024, 1, 1], 0),
            checked([1, 1, 1], [32, 1, 1], 49153),
            checked([1, 1, 1], [32, 1, 1], 300_000),
            words("kernel()", [1; 3], [1; 3], 0, |_, _| Some(LaunchRefused::ParameterCount { given: 3 })),
        ];
        insta::assert_snapshot!(all.join("\n\n"));
    }
}
