//! Counts per source line of the kernels in the book, from one counted launch each: `line-counts.json`, for the pages.
//!
//! `cargo run -p judge --example line_counts -- FOLDER`

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use catalog::provenance::target_of;
use judge::Request;
use serde_json::json;
use tasks::{Catalogue, Task};
use tasks::{explain::Explained, task::TaskKind};

/// A kernel of a step that no task asks for.
struct Other {
    step: &'static str,
    source: &'static str,
    entry: &'static str,
    /// Rows and columns per block.
    tile: [u32; 2],
    threads: u32,
    /// Dynamic shared memory for the step's shape, in bytes.
    shared: u32,
    /// Consecutive blocks have tiles below each other.
    down: bool,
}

const fn other(step: &'static str, source: &'static str, entry: &'static str, tile: [u32; 2], threads: u32) -> Other {
    Other { step, source, entry, tile, threads, shared: 0, down: false }
}

/// The kernels without a task. `v08_gemm_transposed` is absent: four kernels share the lines of its template, with
/// different counts in each.
const OTHERS: [Other; 10] = [
    other("v01", "v01_row_per_lane", "sgemm_v01_row_per_lane", [32, 32], 1024),
    Other { shared: 128 * 128, ..other("v02", "v02_strip", "sgemm_v02_strip", [16, 16], 256) },
    other("v03", "v03_from_global", "sgemm_v03_from_global", [128, 128], 256),
    other("v08", "v08_transpose_coalesced", "transpose_coalesced_reads", [32, 32], 1024),
    other("v08", "v08_transpose_coalesced", "transpose_coalesced_writes", [32, 32], 1024),
    Other { down: true, ..other("v08", "v08_transpose_float4", "transpose_float4", [64, 64], 256) },
    other("v08", "v08_transpose_swizzled", "transpose_swizzled", [32, 32], 1024),
    other("v08", "v08_transpose_threads", "transpose_row_per_thread", [32, 256], 32),
    other("v08", "v08_transpose_threads", "transpose_serial", [256, 256], 1),
    other("v08", "v08_transpose_tile", "transpose_tile", [32, 32], 1024),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("which folder?")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let mut tasks: Vec<Task> = Vec::new();
    let rebuild =
        |tasks: Vec<Task>| tasks.into_iter().find(|task| task.kind == TaskKind::Rebuild && !task.gpu_required);
    tasks.extend(Catalogue::load_all(&root)?.into_iter().filter_map(|catalogue| rebuild(catalogue.tasks)));
    let own = tasks.clone();
    for other in OTHERS {
        let of_step = own.iter().find(|task| task.name.to_string() == other.step);
        let mut task = of_step.ok_or("a step has no task")?.clone();
        task.solution = PathBuf::from("kernels").join(other.source).with_extension("cu");
        other.entry.clone_into(&mut task.entry);
        task.tile = other.tile;
        task.down = other.down;
        task.block = [other.threads, 1, 1];
        task.dynamic_shared = other.shared;
        tasks.push(task);
    }
    tasks.sort_by(|a, b| (&a.solution, &a.entry).cmp(&(&b.solution, &b.entry)));
    let mut all = Vec::new();
    for task in &tasks {
        let source = root.join(&task.solution);
        let name = task.solution.display().to_string();
        let ptx = std::fs::read_to_string(target_of(&root, &source))?;
        let sources = [(name.clone(), std::fs::read_to_string(&source)?)];
        let explained = judge::explain::explain(&Request { threads: 0, ..Request::new(task, &ptx, &sources) });
        let explained = explained.map_err(|why| format!("{name}: {why}"))?;
        if !explained.right {
            return Err(format!("{name}: {} gives a wrong result", task.entry).into());
        }
        all.push(written(&name, &explained));
    }
    let text = format!("[\n{}\n]\n", all.join(",\n"));
    std::fs::write(Path::new(&folder).join("line-counts.json"), text)?;
    Ok(())
}

/// Formats one kernel: a source line to a line.
fn written(file: &str, explained: &Explained) -> String {
    let lines: Vec<String> = explained
        .lines
        .iter()
        .filter(|line| line.file == file)
        .map(|line| format!("    {}", json!({"line": line.line, "counts": line.counts})))
        .collect();
    let head = json!({
        "file": file, "kernel": explained.kernel, "shape": explained.shape.to_string(),
    });
    let mut out = head.to_string();
    out.pop();
    let _ = write!(out, ",\n  \"lines\": [\n{}\n  ]}}", lines.join(",\n"));
    out
}
