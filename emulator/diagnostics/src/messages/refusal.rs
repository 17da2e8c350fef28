//! Messages about launches that cannot start (`E-LAUNCH`).

use std::sync::Arc;

use program::limits::LOCAL_BYTES;
use program::{DecodedKernel, Param};
use simt::launch::{LaunchRefused, LaunchRequest, MAX_BLOCK, MAX_GRID, MAX_SHARED, MAX_SHARED_OPT_IN, MAX_THREADS};

use crate::finding::Finding;
use crate::launch_context::{Draft, paragraph};
use crate::source::{Source, text::plain_name};
use crate::words::{count, plural, size};

pub fn refusal(kernel: &DecodedKernel, request: &LaunchRequest, why: &LaunchRefused) -> Finding {
    let mut draft = reason(kernel, request, why);
    draft.notes.insert(0, format!("Launch of `{}`, which did not start.", plain_name(&kernel.name)));
    let is_own = |(_, text): &&(String, Arc<str>)| text.contains(plain_name(&kernel.name));
    let own = request.options.names.sources.iter().find(is_own);
    draft.spell(own.map(|(_, text)| Source::new(text)).as_ref());
    draft.finish_refusal()
}

/// Describes a launch whose blocks take more registers than a multiprocessor has, `limit`.
pub fn too_many_registers(kernel: &DecodedKernel, threads: u32, registers: u32, limit: u32) -> Finding {
    let name = plain_name(&kernel.name);
    Draft::new(format!(
        "{threads} threads x {registers} registers = {} > {limit}, the registers of a multiprocessor",
        threads * registers
    ))
    .note(format!("Launch of `{name}`, which did not start; ptxas gave each thread {registers} registers."))
    .advice(format!("use smaller blocks, or __launch_bounds__({threads})."))
    .finish_refusal()
}

/// Describes a launch that was not attempted; `title` is all that there is to say.
pub fn not_attempted(title: &str) -> Finding {
    Draft::new(title).finish_refusal()
}

/// A mistake of the host's code that is only suspected, or harms only where the host uses what it gets.
pub struct HostWarning<'a> {
    pub code: &'a str,
    pub title: String,
    /// Observation that led to the warning.
    pub note: String,
    pub why: String,
    pub advice: String,
    pub on_gpu: &'a str,
}

impl HostWarning<'_> {
    pub fn text(&self) -> String {
        let mut text = format!("warning[{}]: {}\n", self.code, self.title);
        let parts = [("", &*self.note), ("Why: ", &self.why), ("Try: ", &self.advice), ("On a GPU: ", self.on_gpu)];
        parts.into_iter().for_each(|(label, part)| paragraph(&mut text, label, part));
        text
    }
}

fn refused(title: impl Into<String>) -> Draft {
    Draft::new(title).on_gpu("the launch fails too, with \"invalid argument\".")
}

const SMALLER_BLOCKS: &str = "use smaller blocks, such as 16x16 or 256, and more of them.";

fn reason(kernel: &DecodedKernel, request: &LaunchRequest, why: &LaunchRefused) -> Draft {
    let (grid, block) = (request.grid, request.block);
    let name = plain_name(&kernel.name);
    match *why {
        LaunchRefused::NoBlocks => empty("the grid has no blocks", request),
        LaunchRefused::NoThreads => empty("the block has no threads", request),
        LaunchRefused::ManyThreads { threads } => refused(format!(
            "a block of {} = {threads} threads is larger than any GPU allows ({MAX_THREADS})",
            size(block)
        ))
        .advice(SMALLER_BLOCKS),
        LaunchRefused::LargeBlock => refused(format!(
            "a block of {} is larger than a GPU allows; the limits are {}",
            triple(block),
            triple(MAX_BLOCK)
        ))
        .advice(SMALLER_BLOCKS),
        LaunchRefused::LargeGrid => {
            let [x, y, z] = MAX_GRID;
            refused(format!("a grid of {} blocks is larger than a GPU allows", triple(grid)))
                .note(format!("The limits are {x} in x, {y} in y and {z} in z."))
                .advice("put the longest dimension in x.")
        }
        LaunchRefused::OtherBlock { required } => {
            refused(format!("`{name}` is compiled for blocks of {} threads", size(required)))
                .note(format!("This launch has blocks of {}.", size(block)))
                .advice("launch it with the block that it requires (.reqntid).")
        }
        LaunchRefused::AboveLaunchBounds { threads, limit } => {
            refused(format!("`{name}` is compiled for at most {limit} threads per block"))
                .note(format!(
                    "This launch has blocks of {threads} threads; the kernel says __launch_bounds__({limit}), so the \
                     compiler may give each thread so many registers that no more threads fit."
                ))
                .advice(format!("launch blocks of {limit} threads, or raise __launch_bounds__."))
        }
        LaunchRefused::GridOfClusters { .. }
        | LaunchRefused::ClusterSize { .. }
        | LaunchRefused::OtherCluster { .. }
        | LaunchRefused::NoCluster => clusters(kernel, request, why).on_gpu("the launch does not start, either."),
        LaunchRefused::LargeShared => refused("a block needs more shared memory than there is")
            .note(format!("{}; a block can have {MAX_SHARED_OPT_IN} bytes (227 KiB) at most.", shared(kernel, request)))
            .advice("use smaller tiles."),
        LaunchRefused::SharedNotAllowed => shared_not_allowed(kernel, request),
        LaunchRefused::LargeLocal => {
            refused(format!("{} bytes of local memory per thread, and there are {LOCAL_BYTES}", kernel.local_bytes))
        }
        LaunchRefused::LargeMemory { asked, room } => {
            refused("a block needs more memory than the emulated GPU has for running it")
                .note(format!(
                    "A block of {} threads with {} bytes of local memory each takes {asked} bytes; there are {room}.",
                    request.block.iter().product::<u32>(),
                    kernel.local_bytes
                ))
                .advice("use smaller local arrays or blocks, or raise TILE_MEMORY.")
        }
        LaunchRefused::ParameterBytes { given } => Draft::new(format!("the arguments of `{name}` have the wrong size"))
            .on_gpu(match given {
                _ if given > kernel.param_bytes as usize => {
                    "the launch fails too, with \"too many resources requested for launch\"."
                }
                0 => "the launch fails too, with \"invalid argument\".",
                _ => "the kernel starts, and takes for what is missing whatever is there, such as 0.",
            })
            .note(format!("{given} bytes were given, the kernel takes {}.", kernel.param_bytes))
            .note(takes(kernel))
            .advice(
                "give the arguments in the order of the kernel, each in its type (an `int` is i32, a `size_t` u64, a \
                     `float` not a `double`).",
            ),
        LaunchRefused::ParameterCount { given } => {
            let n = kernel.params.len();
            refused(format!(
                "`{name}` takes {n} {}, and {given} {} given",
                plural(n as u64, "argument"),
                if given == 1 { "was" } else { "were" }
            ))
            .note(takes(kernel))
            .advice("give one argument for each parameter, in order.")
        }
    }
}

fn empty(title: &str, request: &LaunchRequest) -> Draft {
    let (grid, block) = (triple(request.grid), triple(request.block));
    refused(title)
        .note(format!("grid {grid}, block {block}: every dimension must be at least 1."))
        .advice("round up when dividing: (n + block - 1) / block is 0 only for n = 0, which needs no launch.")
}

fn clusters(kernel: &DecodedKernel, request: &LaunchRequest, why: &LaunchRefused) -> Draft {
    let name = plain_name(&kernel.name);
    match *why {
        LaunchRefused::GridOfClusters { cluster } => refused(format!(
            "a grid of {} blocks cannot be made of clusters of {}",
            triple(request.grid),
            triple(cluster)
        ))
        .note("Each dimension of the grid must be a multiple of the clusters'.")
        .advice("round the grid up to whole clusters, and let the blocks beyond the data do nothing."),
        LaunchRefused::ClusterSize { cluster, most } => {
            refused(format!("clusters of {} blocks are not possible", triple(cluster)))
                .note(format!(
                    "A cluster has at least 1 and at most {most} blocks here; every device allows 8, and more must be \
                     asked for."
                ))
                .advice(
                    "use smaller clusters, or set CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED for up to 16.",
                )
        }
        LaunchRefused::OtherCluster { required } => {
            let required = triple(required);
            let (title, advice) = match kernel.cluster.required {
                Some(_) => (
                    format!("`{name}` is compiled for clusters of {required}"),
                    "leave CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION out, or give it the numbers of __cluster_dims__.",
                ),
                None => (
                    format!("`{name}` is set to clusters of {required}"),
                    "leave CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION out, or give it the numbers of \
                     CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, _HEIGHT and _DEPTH.",
                ),
            };
            refused(title).note("This launch asks for others.").advice(advice)
        }
        _ => refused(format!("`{name}` must be launched with clusters"))
            .note("It is compiled with .explicitcluster, and the launch has no size of clusters.")
            .advice("launch it by cuLaunchKernelEx with CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION."),
    }
}

fn shared_not_allowed(kernel: &DecodedKernel, request: &LaunchRequest) -> Draft {
    refused("a block needs more than 48 KiB of shared memory, and the kernel was not allowed to")
        .note(format!("{}; without asking, a block gets {MAX_SHARED} bytes at most.", shared(kernel, request)))
        .advice(match request.dynamic_shared {
            0 => "use smaller tiles, or dynamic shared memory (extern __shared__).".to_owned(),
            dynamic => format!(
                "allow it once before the launch: \
                 set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {dynamic})."
            ),
        })
}

fn shared(kernel: &DecodedKernel, request: &LaunchRequest) -> String {
    let (fixed, dynamic) = (u64::from(kernel.shared_static_bytes), u64::from(request.dynamic_shared));
    match (fixed, dynamic) {
        (_, 0) => format!("{fixed} bytes of __shared__ arrays"),
        (0, _) => format!("{dynamic} bytes of dynamic shared memory"),
        _ => format!(
            "{fixed} bytes of __shared__ arrays and {dynamic} of dynamic shared memory: {} together",
            fixed + dynamic
        ),
    }
}

/// Returns a sentence on a kernel's parameters: `Its parameters, in order: 4 bytes, 8 bytes (a pointer or a 64-bit
/// number).`
fn takes(kernel: &DecodedKernel) -> String {
    let part = |param: &Param| {
        if param.maybe_pointer {
            "8 bytes (a pointer or a 64-bit number)".to_owned()
        } else {
            count(u64::from(param.bytes), "byte")
        }
    };
    let parts: Vec<String> = kernel.params.iter().map(part).collect();
    if parts.is_empty() {
        "It has no parameters.".into()
    } else {
        format!("Its parameters, in order: {}.", parts.join(", "))
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::launch::{LaunchOptions, check};

    fn words(
        head: &str, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32,
        refused: impl Fn(&DecodedKernel, &LaunchRequest) -> Option<LaunchRefused>,
    ) -> String {
        let loaded = crate::testing::load(&format!(".visible .entry {head} {{ ret; }}"));
        let options = LaunchOptions::default();
        let request = LaunchRequest { grid, block, dynamic_shared, params: Vec::new(), options };
        refused(loaded.kernel(), &request)
            .map(|refused| refusal(loaded.kernel(), &request, &refused).text)
            .unwrap_or_default()
    }

    fn checked(grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> String {
        words("scale() .maxntid 512, 1, 1", grid, block, dynamic_shared, |kernel, request| {
            check(kernel, request, None).err()
        })
    }

    #[test]
    fn a_launch_within_the_limits_is_not_refused() {
        assert_eq!(checked([1, 1, 1], [512, 1, 1], 49152), "");
    }

    #[test]
    fn each_refusal_says_what_and_what_to_do() {
        let given = |given: usize| {
            let head = "saxpy(.param .u64 x, .param .f32 a)";
            words(head, [1; 3], [1; 3], 0, |_, _| Some(LaunchRefused::ParameterBytes { given }))
        };
        let all = [
            checked([0, 1, 1], [32, 1, 1], 0),
            checked([1, 1, 1], [33, 32, 1], 0),
            checked([1, 1, 1], [1, 1, 65], 0),
            checked([1, 70000, 1], [1, 1, 1], 0),
            checked([1, 1, 1], [1024, 1, 1], 0),
            checked([1, 1, 1], [32, 1, 1], 49153),
            checked([1, 1, 1], [32, 1, 1], 300_000),
            words("kernel()", [1; 3], [1; 3], 0, |_, _| Some(LaunchRefused::ParameterCount { given: 3 })),
            given(8),
            given(16),
        ];
        insta::assert_snapshot!(all.join("\n\n"));
    }
}
