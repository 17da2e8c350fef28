//! Parses PTX text to a typed module with source positions, and prints modules as text.
//!
//! PTX is the assembly language that CUDA compilers write and GPU drivers read. This crate reads the output of NVRTC,
//! nvcc and clang, and hand-written PTX, into a tree, prints trees, and has a table of all instructions, emulated or
//! refused.
//!
//! ```
//! let text = "
//!     .version 8.4
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry twice(.param .u64 twice_param_0) {
//!         .reg .f32 %f<3>;
//!         .reg .b64 %rd<2>;
//!         ld.param.u64 %rd1, [twice_param_0];
//!         ld.global.f32 %f1, [%rd1];
//!         add.rn.f32 %f2, %f1, %f1;
//!         st.global.f32 [%rd1], %f2;
//!         ret;
//!     }";
//! let module = ptx::parse(text)?;
//! ptx::table::check(&module)?;
//!
//! // Printing and reading again gives the same tree.
//! let again = ptx::parse(&module.to_string())?;
//! assert_eq!(again.without_spans(), module.without_spans());
//!
//! // Errors name their place.
//! let error = ptx::parse(&text.replace("ret;", "ret")).unwrap_err();
//! assert_eq!(error.to_string(), "line 13, column 5: expected an operand, found `}`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Several modules become one by [`link::link`].
//!
//! Non-goals: the crate executes nothing, resolves names only between modules, does not check operand types, and keeps
//! neither comments nor the spelling of numbers. Debug sections stay text.

#![forbid(unsafe_code)]

pub mod ast;
pub mod error;
mod lex;
pub mod link;
mod names;
mod parse;
mod print;
pub mod span;
mod strip;
pub mod table;

pub use ast::Module;
pub use error::{CheckError, ParseError, Unsupported};
pub use parse::{parse, parse_from, parse_within};
pub use span::Span;
