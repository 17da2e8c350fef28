//! Picture of one launch of a real kernel: grid, block, warp, lane.

use anyhow::Context as _;
use catalog::Shape;

use crate::machine::{self, FIRST};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

const KERNEL: &str = "sgemm_v03_from_shared";
const SIZE: usize = 1024;
const LANES: u32 = 32;

/// Sizes of the levels, as the real kernel has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts {
    grid: [u32; 2],
    tile: [u32; 2],
    threads: u32,
    /// Number of elements of C that one thread stores.
    owned: usize,
}

fn parts() -> anyhow::Result<Parts> {
    let tile = machine::tile(KERNEL)?;
    let shape = Shape { m: tile[0] as usize, n: tile[1] as usize, k: 8 };
    let trace = machine::product(KERNEL, shape, FIRST)?;
    let [threads, ..] = trace.kernel().max_threads.context("the kernel has launch bounds")?;
    let stores = trace.global(2);
    let owned = stores.iter().map(|store| store.access.bytes as usize / 4).sum();
    Ok(Parts { grid: tile.map(|edge| SIZE as u32 / edge), tile, threads, owned })
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let Parts { grid, tile, threads, owned } = parts()?;
    let n_warps = threads / LANES;
    let mut drawing = Drawing::titled(
        format!("One launch: v03 on {SIZE} × {SIZE}"),
        format!(
            "From left to right, each a part of the one before: a grid of {} by {} blocks; one block of {n_warps} warps, \
             {threads} threads; one warp of {LANES} lanes.",
            grid[0], grid[1]
        ),
    );
    const TOP: f64 = 52.0;
    const EDGE: f64 = 120.0;
    /// Width of the warp, whose lanes have two-digit numbers.
    const WIDE: f64 = 138.0;
    let (first, second, third) = (0.0, 152.0, WIDTH - WIDE);
    for (x, name) in [(first, "grid"), (second, "block"), (third, "warp")] {
        drawing.text("strong", Anchor::Start, (x, 40.0), name);
    }

    // The grid, with one block marked.
    let cell = EDGE / f64::from(grid[0].max(grid[1]));
    let block = |x: u32, y: u32| Rect::new(first + cell * f64::from(x), TOP + cell * f64::from(y), cell, cell);
    let all = (0..grid[0]).flat_map(|y| (0..grid[1]).map(move |x| (x, y)));
    drawing.rects("faint", all.map(|(x, y)| block(x, y).inset(0.8)));
    let marked = block(grid[1] - 2, 1);
    drawing.rect("a", marked.inset(0.8));

    // The block: its warps, one marked.
    let height = EDGE / f64::from(n_warps);
    let warp = |i: u32| Rect::new(second, TOP + height * f64::from(i), EDGE, height);
    zoom(&mut drawing, marked, Rect::new(second, TOP, EDGE, EDGE));
    drawing.rects("a2", (0..n_warps).map(|i| warp(i).inset(0.8)));
    let marked = warp(2);
    drawing.rect("b", marked.inset(0.8));
    for (i, r) in [(0, warp(0)), (n_warps - 1, warp(n_warps - 1))] {
        let (x, y) = r.middle();
        drawing.text("", Anchor::Middle, (x, y + 5.0), format!("warp {i}"));
    }

    // The warp: its lanes.
    let frame = Rect::new(third, TOP + 10.0, WIDE, EDGE - 20.0);
    zoom(&mut drawing, marked, frame);
    let (across, down) = (8, LANES / 8);
    let (w, h) = (WIDE / f64::from(across), frame.height / f64::from(down));
    let lane = |i: u32| Rect::new(third + w * f64::from(i % across), frame.y + h * f64::from(i / across), w, h);
    drawing.rects("b2", (0..LANES).map(|i| lane(i).inset(0.8)));
    for i in [0, across - 1, LANES - across, LANES - 1] {
        let (x, y) = lane(i).middle();
        drawing.text("", Anchor::Middle, (x, y + 5.0), i.to_string());
    }

    let y = TOP + EDGE + 22.0;
    let columns = [
        (first, [format!("{} × {} blocks", grid[0], grid[1]), "in any order".to_owned()]),
        (second, [format!("{threads} threads"), format!("{} × {} of C", tile[0], tile[1])]),
        (third, [format!("{LANES} lanes"), format!("{owned} of C each")]),
    ];
    for (x, lines) in columns {
        for (i, line) in lines.iter().enumerate() {
            drawing.text(if i == 0 { "" } else { "dim" }, Anchor::Start, (x, y + 19.0 * i as f64), line);
        }
    }
    Ok(drawing.finish(y + 28.0))
}

/// Draws lines from a part to its enlarged picture.
fn zoom(drawing: &mut Drawing, part: Rect, whole: Rect) {
    drawing.line("dash", (part.right(), part.y), (whole.x, whole.y));
    drawing.line("dash", (part.right(), part.bottom()), (whole.x, whole.bottom()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_of_a_block_own_its_tile() -> anyhow::Result<()> {
        let parts = parts()?;
        assert_eq!(parts.threads as usize * parts.owned, (parts.tile[0] * parts.tile[1]) as usize);
        Ok(())
    }
}
