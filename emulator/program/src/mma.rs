//! Tensor cores: what their instructions compute, and which lane holds which element.

pub mod fragment;
pub mod layout;
pub mod warpgroup;

pub use ::arithmetic::products as arithmetic;
