//! Compiles CUDA C++, as the course uses it, to PTX.
//!
//! The language is that of the kernels of the ladder's scalar steps, their starters, and what learners write into them.
//! Everything else is refused by name: no source compiles to something else than it says.
//!
//! - `preprocess` makes tokens of a source and its headers ([`parse`] calls both); `grammar` makes a tree of them
//!   ([`tree`]); [`render`] prints what is wrong with a source.
//! - `lower` checks types, instantiates templates, inlines calls, unrolls loops, and writes `ssa`.
//! - `ssa` simplifies, and `emit` writes PTX with the lines of the source.
//!
//! The crate does no I/O. Time and memory are limited for any input.

#![forbid(unsafe_code)]

mod emit;
mod grammar;
mod lex;
mod loops;
mod lower;
mod map;
pub mod message;
pub mod parse;
mod passes;
mod preprocess;
mod registers;
pub mod render;
pub mod source;
mod ssa;
pub mod suggest;
pub mod tree;
mod types;

pub use message::{Message, Severity};
pub use source::{Input, Place, Sources, Span};

/// The PTX of a source, and what else is to be said of it.
#[derive(Debug)]
pub struct Compiled {
    pub module: ptx::Module,
    pub warnings: Vec<Message>,
    pub sources: Sources,
}

/// Compiles the kernels of a source.
///
/// # Errors
///
/// Returns what is wrong with the source, or what this compiler does not know.
pub fn compile(input: &Input) -> Result<Compiled, (Vec<Message>, Sources)> {
    let (unit, sources, mut warnings) = parse::parse(*input);
    if warnings.iter().any(|message| message.severity != Severity::Warning) {
        return Err((warnings, sources));
    }
    let names = lower::Names::new(&unit);
    let mut lowering = lower::Lowering::new(&names, &sources);
    match lowering.unit(&unit) {
        Ok(kernels) => {
            warnings.append(&mut lowering.warnings);
            let module = emit::module(kernels, &lowering.symbols, &sources);
            Ok(Compiled { module, warnings, sources })
        }
        Err(mut errors) => {
            errors.extend(warnings);
            errors.append(&mut lowering.warnings);
            Err((errors, sources))
        }
    }
}
