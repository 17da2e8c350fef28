//! A GEMM library for Hopper's tensor cores: products of bf16 of any shape, with a fused epilogue.

pub mod gemm;
pub mod plans;
