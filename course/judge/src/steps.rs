//! The steps of a block of a learner's kernel, for the stepper of a page.

use catalog::Shape;
use diagnostics::plain_name;
use serde_json::Value;
use stepper::{Followed, Subject, Tile, Traced};
use tasks::TaskWork;

use crate::emulated_module::{BlockTrace, EmulatedModule};
use crate::{Request, trial::trials};

/// Steps of the largest kernels of the ladder, several times.
const MAX_STEPS: usize = 1 << 17;
/// K of a kernel without tiles.
const DEPTH: usize = 16;
/// Bytes of an element.
const FLOAT: u64 = 4;

/// Launches one block on a small product, and returns its steps, packed; the error says why a page cannot show them.
pub fn follow(request: &Request<'_>) -> Result<Value, String> {
    let task = request.task;
    if task.work != TaskWork::Sgemm {
        return Err("the stepper shows kernels that compute C = A · B in FP32 from row-major matrices".to_owned());
    }
    let module = EmulatedModule::new(request).map_err(|error| error.to_string())?;
    let (name, text) = request.sources.first().ok_or("there is no source")?;
    let tiles = tiles(&module)?;
    // Two steps of k, and one for each further buffer.
    let depth =
        tiles.first().map_or(DEPTH, |tile| tile.dims[1].min(tile.dims[2]) as usize * (1 + tile.dims[0] as usize));
    let [m, n] = task.tile.map(|edge| edge as usize);
    let trial = trials::<f32>(task.work, Shape { m, n, k: depth }, request.seed, request.threads).next_back();
    let trial = trial.ok_or("there is nothing to launch")?;
    let traced = module.trace_block(&trial, None, MAX_STEPS);
    let BlockTrace { steps, buffers, .. } = traced.ok_or("the launch is refused; a run says why")?;
    if steps.is_empty() || steps.len() >= MAX_STEPS {
        let n = if steps.is_empty() { "no".to_owned() } else { format!("{MAX_STEPS} or more") };
        return Err(format!("its first block took {n} steps, which the stepper does not show"));
    }
    let numbered = (1..).zip(text.trim_end().lines().map(str::to_owned));
    let subject = Subject {
        label: format!("{name}, {m} × {n}, K = {depth}"),
        file: name.clone(),
        source: numbered.collect(),
        shape: [m, n, depth],
        element_bytes: [FLOAT; 2],
        tiles,
    };
    let kernel = module.kernel();
    let trace = Traced { kernel: kernel.kernel(), files: kernel.files(), buffers: &buffers, steps: &steps };
    Followed::new(&subject, &trace)?.pack()
}

/// Returns the tiles of A and B, with their shapes from the source: PTX has their bytes alone.
fn tiles(module: &EmulatedModule<'_>) -> Result<Vec<Tile>, String> {
    let kernel = module.kernel().kernel();
    let source = module.source().ok_or("there is no source")?;
    let tile = |array: &program::DeclaredArray| {
        let name = plain_name(&array.name);
        let dims = source.shared_dims(&kernel.name, name)?;
        let [outer @ .., rows, cols] = dims.as_slice() else { return None };
        let n: u64 = outer.iter().product();
        // Elements may be vectors.
        let cols = cols * (u64::from(array.bytes) / (n * rows * cols).max(1)) / FLOAT;
        let dims = [n, *rows, cols].map(u32::try_from);
        let [Ok(n), Ok(rows), Ok(cols)] = dims else { return None };
        let is_whole = u64::from(n) * u64::from(rows) * u64::from(cols) * FLOAT == u64::from(array.bytes);
        is_whole.then(|| Tile { name: name.to_owned(), symbol: array.name.clone(), dims: [n, rows, cols] })
    };
    let tiles: Option<Vec<Tile>> = kernel.shared.iter().map(tile).collect();
    let tiles = tiles.filter(|tiles| [0, 2].contains(&tiles.len()));
    tiles.ok_or_else(|| {
        "the stepper shows kernels without arrays in shared memory, or with two, a tile of A and one of B, of two or three \
         dimensions"
            .to_owned()
    })
}
