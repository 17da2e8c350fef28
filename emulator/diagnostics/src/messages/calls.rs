//! Messages about calls of invalid addresses (`E-CALL`), and calls nested too deeply (`E-STACK`).

use crate::launch_context::{Draft, LaunchContext};
use crate::source::text::plain_name;
use crate::words::{code, count, grouped};
use simt::check::{BadTarget, MistakeGroup};

/// Drafts the message of `E-CALL`.
pub(crate) fn target(launch: &LaunchContext<'_>, mistake: &MistakeGroup, address: u64, problem: &BadTarget) -> Draft {
    let (title, advice, on_gpu) = match problem {
        BadTarget::NoFunction => (
            match address {
                0 => "a call through a null pointer".to_owned(),
                _ => format!("a call through {address:#x}, where there is no function"),
            },
            "set the pointer to a `__device__` function of this module before the call; the address of a host function is \
             not valid on the device.",
            "the kernel jumps to wherever the address points: an H100 stops with \"illegal instruction\", or hangs where \
             the pointer is null.",
        ),
        BadTarget::OtherSignature(name) => (
            format!("{} is called with the wrong parameters", code(plain_name(name))),
            "give the pointer the type of the function; parameters and result must have the same sizes.",
            "the behaviour is undefined: the function reads registers that the call did not set.",
        ),
    };
    Draft::new(title).note(launch.first_thread(mistake)).advice(advice).on_gpu(on_gpu)
}

pub(crate) fn stack(launch: &LaunchContext<'_>, mistake: &MistakeGroup, name: &str, depth: u32, limit: u32) -> Draft {
    let name = code(plain_name(name));
    Draft::new(format!("stack overflow: {} deep in {name}", count(depth.into(), "call")))
        .note(format!(
            "Each thread has a stack of {} bytes, and {name} was about to start one call deeper.",
            grouped(limit.into()),
        ))
        .note(launch.first_thread(mistake))
        .advice(
            "check what ends the recursion; if it has to go so deep, ask for a larger stack with \
                 `cudaDeviceSetLimit(cudaLimitStackSize, …)` before the launch.",
        )
        .on_gpu("the stack runs into other memory, and the kernel stops with \"illegal memory access\".")
}
