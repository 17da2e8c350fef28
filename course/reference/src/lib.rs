//! Inputs of a kernel, the right answer in FP64, and the comparison with a result.
//!
//! These are loops over millions of elements, so this crate is optimised in development builds too, and `harness`,
//! which is ten times as large, is not. A generic function is compiled in the crate that calls it; therefore the loops
//! are reached through methods of [`inputs::Real`], which are compiled here for each type.
//!
//! It launches nothing and prints nothing.

mod answer;
pub mod bf16;
mod comparison;
pub mod e4m3;
pub mod inputs;
mod narrow;
mod problem;
pub mod tensor;
mod threads;
pub mod verify;

pub use answer::Answer;
pub use bf16::Bf16;
pub use e4m3::E4m3;
pub use problem::{Argument, Problem};
