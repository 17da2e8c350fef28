//! Sentences for mistakes of the host's code whose error code explains little: freeing twice, copies past the end, a
//! misspelt name of a kernel, memory that nothing filled. Each sentence is printed once per process.

use std::sync::Mutex;

use diagnostics::UndefinedOutput;
use simt::memory::AllocationInfo;

use crate::result::*;
use crate::{contexts::MEMORY, sync::lock};
use crate::{diagnose, settings, unwritten};

/// Prints a sentence unless diagnoses are off for the calling thread.
pub(crate) fn explain(sentence: &str) {
    if settings::current().diagnosis {
        diagnose::print_once(sentence);
    }
}

/// Explains a `cuMemFree` of an address that it cannot free, and returns its code.
pub(crate) fn free(address: u64) -> CUresult {
    explain(&match MEMORY.lookup(address) {
        Some(a) if a.base == address && a.freed => {
            format!("cuMemFree({address:#x}): already freed ({})", describe(&a))
        }
        Some(a) if a.base == address && a.origin.symbol => {
            format!("cuMemFree({address:#x}): the memory belongs to the module variable `{}`", a.origin.label)
        }
        Some(a) if a.base == address => {
            format!("cuMemFree({address:#x}): the memory comes from another allocator ({})", describe(&a))
        }
        Some(a) if address > a.base && address < a.base + a.bytes => format!(
            "cuMemFree({address:#x}): the address lies {} bytes after the start of an allocation ({}); \
             only its start, {:#x}, can be freed",
            address - a.base,
            describe(&a),
            a.base
        ),
        _ => format!("cuMemFree({address:#x}): no allocation starts at this address"),
    });
    ERROR_INVALID_VALUE
}

/// Returns the size and the origin of an allocation: `400 bytes from cuMemAlloc`.
pub(crate) fn describe(a: &AllocationInfo) -> String {
    format!("{} bytes from {}", a.bytes, a.origin.label)
}

/// Findings about undefined values in device memory, kept until the host reads them.
static OUTPUTS: Mutex<Vec<UndefinedOutput>> = Mutex::new(Vec::new());
/// Limit on waiting outputs; more are not reported.
const MAX_OUTPUTS: usize = 256;

pub(crate) fn remember_outputs(outputs: &[UndefinedOutput]) {
    if outputs.is_empty() {
        return;
    }
    let mut waiting = lock(&OUTPUTS);
    if waiting.len() + outputs.len() > MAX_OUTPUTS {
        waiting.retain(|output| MEMORY.holds_undefined(output.range.0, output.range.1 - output.range.0));
    }
    let room = MAX_OUTPUTS.saturating_sub(waiting.len());
    waiting.extend(outputs.iter().take(room).cloned());
}

/// Reports undefined and untouched memory in copies to the host; `diagnosis` is the calling thread's setting.
pub(crate) fn copied_back(ranges: impl Iterator<Item = (u64, usize)> + Clone, diagnosis: bool) {
    let read = |output: &mut UndefinedOutput| {
        let (start, end) = output.range;
        ranges.clone().any(|(address, n)| {
            let (from, to) = (start.max(address), end.min(address.saturating_add(n as u64)));
            from < to && MEMORY.holds_undefined(from, to - from)
        })
    };
    let found: Vec<UndefinedOutput> = lock(&OUTPUTS).extract_if(.., read).collect();
    if !diagnosis {
        return;
    }
    found.iter().for_each(|output| diagnose::findings(std::slice::from_ref(&output.finding)));
    unwritten::copied_back(ranges);
}

/// Explains a `cuModuleGetFunction` with a name that no kernel has, and returns its code.
pub(crate) fn kernel_name<'a>(name: &str, kernels: impl Iterator<Item = &'a str>) -> CUresult {
    let kernels: Vec<&str> = kernels.collect();
    // `_Z3addPfi` is the C++ name of `add`: its length precedes it.
    let mangled = format!("_Z{}{name}", name.len());
    if let Some(found) = kernels.iter().find(|kernel| kernel.starts_with(&mangled)) {
        explain(&format!(
            "no kernel `{name}` in this module: C++ calls it `{found}`; declare it `extern \"C\"`, or ask \
             for that name"
        ));
        return ERROR_NOT_FOUND;
    }
    const SHOWN: usize = 8;
    let mut list: Vec<String> = kernels.iter().take(SHOWN).map(|kernel| format!("`{kernel}`")).collect();
    if kernels.len() > SHOWN {
        list.push(format!("{} more", kernels.len() - SHOWN));
    }
    explain(&if list.is_empty() {
        format!("no kernel `{name}` in this module, which has no kernels")
    } else {
        format!("no kernel `{name}` in this module; it has {}", list.join(", "))
    });
    ERROR_NOT_FOUND
}

/// Reports `__constant__` memory that a launched kernel reads, without an initial value and never set. The caller
/// checks that diagnoses are on: this runs on the worker, which has no settings of the calling thread.
pub(crate) fn constants(kernel: &str, constants: &[(String, u64)]) {
    for (name, address) in constants {
        if !MEMORY.host_wrote(*address) {
            diagnose::print_once(&format!(
                "`{kernel}` reads the constant memory `{name}`, which holds zeros because nothing was \
                 copied into it (get its address with cuModuleGetGlobal, then copy)"
            ));
        }
    }
}
