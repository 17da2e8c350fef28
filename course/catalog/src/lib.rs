//! Steps, kernels and shapes as plain data, and what every program prints and writes alike: tables, times, file locks.
//!
//! Every crate that names a step depends on this one. Measurements are in `records`, tasks in `tasks`.

#![forbid(unsafe_code)]

pub mod constants;
mod family;
pub mod files;
pub mod parallel;
pub mod process;
pub mod programs;
pub mod provenance;
pub mod shape;
pub mod sizes;
pub mod split_mix;
pub mod statistics;
pub mod steps;
pub mod text;
pub mod time;

pub use constants::Tile;
pub use family::Family;
pub use shape::{Shape, WrongSize};
pub use steps::{
    CatalogKernel, Format, LIBRARY_SOURCES, PROGRAMS, STEPS, Standalone, Step, UnknownStep, Work, find, range,
};

/// Returns the different items, in the order in which they come first.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}
