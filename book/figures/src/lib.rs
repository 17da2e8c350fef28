//! The book's pictures.
//!
//! Each is a function that returns SVG, made from one of two sources: the real kernels, run on the emulated GPU with
//! a trace of one warp, or a record of measurements. Nothing is drawn by hand. `cargo run -p figures -- write` writes
//! all of them to `book/src/generated`; a test compares them.
//!
//! Not here: the text around them, and the pages (`bookbuild`).

#![forbid(unsafe_code)]

mod bars;
mod boxes;
mod busiest;
mod ceilings;
mod charts;
mod counts;
pub mod explorers;
mod hierarchy;
mod lanes;
mod machine;
mod memories;
pub mod models;
mod owners;
mod plots;
mod predictions;
mod process;
mod race;
mod recorded;
mod register_banks;
mod rings;
mod sass;
mod sectors;
mod shared_banks;
mod steps;
mod svg;
mod table;
mod timeline;
mod v06_fragments;
mod v10_fragments;
mod waiting;
mod walk;
mod whole_gemms;

use std::path::PathBuf;

use anyhow::Context as _;
use records::Record;

pub use self::sass::sass_table;
pub use busiest::{climb_table, stalls_table, tensor_table, units_table};
pub use predictions::errors_table;
pub use steps::steps_js;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// File name without `.svg`.
    pub name: String,
    pub svg: String,
}

/// Draws all pictures, those of the kernels first.
///
/// # Errors
/// Returns an error if a kernel's files cannot be read, a kernel no longer runs as a picture shows, or the record
/// lacks what a picture shows.
pub fn all(record: &Record) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut add = |name: &str, svg: anyhow::Result<String>| -> anyhow::Result<()> {
        let svg = svg.with_context(|| format!("drawing {name}"))?;
        figures.push(Figure { name: name.to_owned(), svg });
        Ok(())
    };
    add("v01-row-per-lane", sectors::draw("sgemm_v01_row_per_lane", "row_per_lane: what one warp touches"))?;
    add("v01-col-per-lane", sectors::draw("sgemm_v01_col_per_lane", "col_per_lane: what one warp touches"))?;
    add("hierarchy", hierarchy::draw())?;
    add("strides", Ok(sectors::strides()))?;
    add("v02-tile-walk", walk::draw())?;
    add("v02-race", race::draw())?;
    add("v03-owners", owners::draw("sgemm_v03_from_shared", "v03"))?;
    add("v04-owners", owners::draw("sgemm_v04_float4", "v04"))?;
    add("v04-loads", sectors::wide_loads())?;
    add("v05-owners", owners::draw("sgemm_v05_bank_conflict_free", "v05"))?;
    add("v06-owners", owners::draw("sgemm_v06_outer_product", "v06"))?;
    add("v05-banks-load", shared_banks::loads_of_b())?;
    add("v05-banks-store", shared_banks::stores_of_a())?;
    add("v06-banks-load", shared_banks::fragments_of_b())?;
    add("v06-fragments", v06_fragments::draw())?;
    add("v07-timeline", timeline::draw())?;
    add("waiting", waiting::draw())?;
    add("register-banks", register_banks::draw(register_banks::LADDER))?;
    add("v11-banks", register_banks::draw(register_banks::LARGE))?;
    add("v08-sectors", sectors::transposes())?;
    add("v08-banks", shared_banks::columns())?;
    add("v10-fragments", v10_fragments::draw())?;
    add("v11-ring", rings::belt())?;
    add("v11-stream-k", rings::shares())?;
    add("v12-swizzle", Ok(boxes::eight_rows()))?;
    add("v12-descriptor", Ok(boxes::descriptors()))?;
    add("v12-ring", rings::order())?;
    add("v12-multicast", rings::multicast())?;
    add("v12-epilogue", boxes::epilogue())?;
    add("v12-turns", rings::time_lines())?;
    add("counts", counts::draw())?;
    for (name, svg) in charts::draw(record)? {
        if let ("ladder", Ok(svg)) = (name.as_str(), &svg) {
            // For README.md, on a page that selects by its theme.
            add("ladder-light", Ok(svg::standalone(svg, false)))?;
            add("ladder-dark", Ok(svg::standalone(svg, true)))?;
        }
        add(&name, svg)?;
    }
    add("roofline", plots::roofline(record))?;
    add("transposes", bars::transposes(record))?;
    add("cpus", bars::cpus(record))?;
    add("memories", memories::draw(record))?;
    add("predictions", Ok(predictions::draw()))?;
    add("v13-process", process::draw())?;
    add("v13-two", process::draw_two())?;
    add("whole", Ok(whole_gemms::parts(record)))?;
    add("of-cublas", Ok(whole_gemms::of_cublas(record)))?;
    add("v11-shapes", Ok(whole_gemms::every_shape(record)))?;
    Ok(figures)
}

/// Loads the record of the book's main device.
pub fn record() -> anyhow::Result<Record> {
    Ok(Record::load(&machine::root().join("book/data/h200.json"))?)
}

/// Returns the folder that `write` writes to.
pub fn generated() -> PathBuf {
    machine::root().join("book/src/generated")
}
