//! A product of matrices in FP32 as a library: any shape, four layouts, `C = alpha · A · B + beta · C`.
//!
//! `gemm` has the product; it chooses one of the `plans` by what `costs` expect of each; `map` describes a
//! matrix to the unit that copies boxes of it.

pub mod costs;
pub mod forecast;
pub mod gemm;
pub mod plans;
pub mod space;
