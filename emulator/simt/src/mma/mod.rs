//! Tensor cores: what their instructions compute, and which lane holds which element.

pub mod arithmetic;
mod eight;
pub mod fragment;
pub mod layout;
pub mod warpgroup;
