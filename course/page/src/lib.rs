//! CUDA in a page of the book: [`reply()`] compiles a kernel, judges it and counts its lines, from JSON to JSON.
//!
//! `cargo xtask page` builds this crate as a WebAssembly module, whose exports are in `wasm`. The compiler,
//! the emulated GPU, the judge and their words are those of `cargo xtask check`; nothing here judges or counts.

mod committed;
mod launch;
mod reply;
#[cfg(target_family = "wasm")]
pub mod wasm;

pub use reply::reply;
