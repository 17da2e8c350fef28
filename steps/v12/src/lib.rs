//! A GEMM library for Hopper's tensor cores: products of bf16, TF32 and FP8 of any shape, with a fused epilogue.

pub mod gemm;
pub mod plans;
pub mod predicted;
pub mod samples;
