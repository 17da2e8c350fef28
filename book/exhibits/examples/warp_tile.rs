//! v06 with three placements of a warp's lanes: wavefronts of its loads from shared memory.
//!
//! `cargo run -p exhibits --example warp_tile`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PTX: &str = include_str!("../kernels/warp_tile.ptx");
const SHAPE: Shape = Shape { m: 128, n: 128, k: 64 };
/// Warps of the only block.
const WARPS: u64 = 8;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    drop(exhibits::device()?);
    let a: Vec<f32> = (0..SHAPE.m * SHAPE.k).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..SHAPE.k * SHAPE.n).map(|i| (i % 5) as f32).collect();
    let right = pitfall::on_the_cpu(SHAPE, &a, &b);
    println!("loads of shared memory by one warp for one k");
    println!("placement  rows x columns  loads  wavefronts  excess");
    for (kernel, owns, wavefronts) in
        [("wide_lanes", "16 x 128", 12), ("in_rows_lanes", "32 x 64", 12), ("in_pairs_lanes", "32 x 64", 8)]
    {
        let piece = Pitfall { ptx: PTX, kernel, geometry: pitfall::in_a_row::<128> };
        let mut c = vec![f32::NAN; SHAPE.m * SHAPE.n];
        piece.multiply(SHAPE, &a, &b, &mut c)?;
        assert_eq!(c, right);
        let n = WARPS * SHAPE.k as u64;
        exhibits::expect("shared_load_wavefronts", wavefronts * n);
        exhibits::expect("shared_load_ideal", wavefronts * n);
        let of = |counter| exhibits::counted(counter).map_or("-".to_owned(), |count| (count / n).to_string());
        let excess = exhibits::counted("shared_load_wavefronts").zip(exhibits::counted("shared_load_ideal"));
        println!(
            "{:9}  {owns:>14}  {:>5}  {:>10}  {:>6}",
            kernel.trim_end_matches("_lanes"),
            of("shared_load_requests"),
            of("shared_load_wavefronts"),
            excess.map_or("-".to_owned(), |(all, ideal)| (all - ideal).to_string()),
        );
    }
    Ok(())
}
// ANCHOR_END: program
