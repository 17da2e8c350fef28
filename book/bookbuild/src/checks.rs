//! Checks of the chapters and of the built pages; [`check`](fn@crate::check) and `--browser` call them.

pub(crate) mod axe;
pub mod browser;
pub(crate) mod devtools;
pub(crate) mod numbers;
pub(crate) mod pages;
pub(crate) mod ptx;
mod run_in_page;
