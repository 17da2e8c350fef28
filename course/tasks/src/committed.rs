//! Kernels of the ladder that no task is about, with their launches: those that pages of the book run.

use std::path::Path;

use anyhow::Context;
use catalog::STEPS;
use serde::{Deserialize, Serialize};

use crate::launch::{Blocks, OwnLaunch};
use crate::task::{Task, TaskName};
use crate::work::TaskWork;

/// A kernel in `book/run.toml` that runs as committed PTX and is not edited, and its launch. Serialised, it is what a
/// request of the page says of it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    #[serde(skip_serializing)]
    pub listing: String,
    pub entry: String,
    /// Tile of C of a block, or of a cluster.
    #[serde(skip_serializing)]
    tile: Option<[u32; 2]>,
    #[serde(default, skip_serializing)]
    blocks: Blocks,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: String,
}

#[derive(Debug, Deserialize)]
struct Book {
    committed: Vec<Listed>,
}

/// Returns a kernel of the ladder as a task, for launches of any size; `None` where the book has no such launch.
///
/// # Errors
/// Returns an error if `book/run.toml` cannot be read, or the kernel runs on a GPU only.
pub fn find(root: &Path, entry: &str) -> anyhow::Result<Option<Task>> {
    let path = root.join("book/run.toml");
    if !path.is_file() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).context("book/run.toml")?;
    let book: Book = toml::from_str(&text).context("book/run.toml")?;
    let listed = book.committed.into_iter().find(|kernel| kernel.entry == entry);
    let Some((listed, tile)) = listed.and_then(|kernel| kernel.tile.map(|tile| (kernel, tile))) else {
        return Ok(None);
    };
    let arguments = listed.arguments.split_whitespace().map(str::to_owned).collect();
    let launch = Some(OwnLaunch { arguments, blocks: listed.blocks });
    let task = task(entry, listed.block, listed.shared).map_err(anyhow::Error::msg)?;
    Ok(Some(Task { tile, launch, ..task }))
}

/// Returns the task of a kernel of the ladder, which is to be right; the error is the reason why it is not run.
pub fn task(entry: &str, block: [u32; 3], dynamic_shared: u32) -> Result<Task, String> {
    let known = STEPS.iter().find_map(|step| Some((step, step.kernel(entry)?)));
    let (step, kernel) = known.ok_or_else(|| format!("the catalogue has no kernel `{entry}`"))?;
    let work = TaskWork::of(kernel.work).filter(|work| !work.is_double() && !work.is_transpose());
    let work = work.ok_or_else(|| format!("`{entry}` runs on a GPU only: its C is not FP32, or it is no product"))?;
    if entry == "sgemm_v12_six_bf16" {
        return Err(format!("`{entry}` runs on a GPU only: another kernel splits its operands before"));
    }
    Ok(Task {
        name: TaskName::rebuild(step.id),
        solution: format!("kernels/{}.cu", kernel.source.unwrap_or_default()).into(),
        entry: entry.to_owned(),
        work,
        // For messages about wrong results, which do not know the tile.
        tile: [1, 1],
        block,
        dynamic_shared,
        ..Task::default()
    })
}

#[cfg(test)]
mod tests {
    use catalog::Shape;

    use super::*;

    #[test]
    fn launches_of_the_book_fit_their_tiles() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(root.join("book/run.toml")).expect("a file");
        let book: toml::Table = text.parse().expect("TOML");
        let sizes: [usize; 3] = book["committed_sizes"].clone().try_into().expect("sizes");
        let shape = Shape { m: sizes[0], n: sizes[1], k: sizes[2] };
        let mut n_found = 0;
        for kernel in book["committed"].as_array().expect("kernels") {
            let entry = kernel["entry"].as_str().expect("a name");
            if let Some(task) = find(&root, entry).expect("it is listed") {
                let grid: [u32; 3] = kernel["grid"].clone().try_into().expect("a grid");
                assert_eq!(task.grid(shape), grid, "{entry}");
                n_found += 1;
            }
        }
        assert!(n_found > 10, "{n_found}");
    }
}
