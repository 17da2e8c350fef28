//! Tensor cores: results of their instructions, and the layout of their registers.

pub mod fragment;
pub mod layout;
pub mod warpgroup;
