//! A GEMM in FP32 as a library: any shape, four layouts, `C = alpha · A · B + beta · C`.
//!
//! [`gemm`] multiplies; it chooses the one of the [`plans`] for which [`costs`] expect the least time. [`space`] lists
//! all plans that the kernel's constants allow, and [`forecast`] predicts the time of those that were never timed.

pub mod costs;
pub mod forecast;
pub mod gemm;
pub mod plans;
pub mod space;
