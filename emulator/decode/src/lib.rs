//! Decodes PTX modules and machine code to [`Program`]s.
//!
//! Decoding resolves names, inlines device functions (except those that `decode::ptx::call_graph` names), and turns
//! labels into positions and virtual registers into lines of a small register file. [`::ptx::table`] alone defines
//! which instructions exist and which of them run; modules must have passed [`::ptx::table::check`]. Anything else that
//! is not supported (a special register, a kernel that is too big) is refused with its line, before it runs.
//!
//! A register that is read before it is written reads as 0; [`program::DecodedKernel::unset`] lists those that can be.

#![cfg_attr(not(test), forbid(unsafe_code))]

#[macro_use(refuse_if)]
extern crate program;

mod error;
mod hash;
#[cfg(test)]
mod oversized;
mod passes;
mod ptx;
pub mod sass;
#[cfg(test)]
mod tests;
mod virtual_op;

use ::ptx::ast::{FunctionKind, Item, Module};

use arithmetic::lanes::CpuLevel;
pub use error::DecodeError;
use error::{Result, unsupported};
use program::Program;
use program::limits::{Account, REFUSALS};
use ptx::index::Index;
pub use ptx::module_variables::{ModuleVariable, Relocation, Symbols, module_variables};

/// Decodes the kernels of a checked module, charging the work to an account; `symbols` places [`module_variables`].
pub fn decode(module: &Module, symbols: &Symbols, level: CpuLevel, account: &Account) -> Result<Program> {
    let nowhere = ::ptx::Span::default();
    refuse_if!(module.address_size == 32, unsupported(nowhere, "`.address_size 32`"));
    let index = Index::new(module, account)?;
    let mut kernels = Vec::new();
    let mut refused = Vec::new();
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        if function.kind != FunctionKind::Entry || function.body.is_none() {
            continue;
        }
        match ptx::kernel::decode_kernel(&index, symbols, level, function) {
            Ok(kernel) => kernels.push(kernel),
            Err(DecodeError::Unsupported(what)) => {
                for one in what {
                    if refused.len() < REFUSALS && !refused.contains(&one) {
                        refused.push(one);
                    }
                }
            }
            Err(other) => return Err(other),
        }
    }
    if !refused.is_empty() {
        refused.sort_by_key(|one| one.span.start);
        return Err(DecodeError::Unsupported(refused));
    }
    let files = module.files.iter().map(|file| (file.index, file.path.clone())).collect();
    Ok(Program { kernels, files })
}
