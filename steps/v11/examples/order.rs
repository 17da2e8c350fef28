//! The order in which plans add up: how many elements of C have the bits of one sum, with k from 0 upwards.
//!
//! Multiply-adds round in one way only, so the emulated device gives the bits of a card with as many multiprocessors.

#![expect(clippy::print_stdout, reason = "a program that talks to whoever runs it")]

use cudarc::driver::CudaContext;
use harness::Shape;
use harness::inputs::{Data, elements};
use v11::gemm::{Choice, Product, Sgemm};
use v11::plans::{PLANS, Sharing, Source};

const SHAPE: Shape = Shape { m: 256, n: 264, k: 512 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    emulator_client::preload()?;
    let stream = CudaContext::new(0)?.per_thread_stream();
    let sgemm = Sgemm::load(&stream)?;
    let Shape { m, n, k } = SHAPE;
    let a: Vec<f32> = elements(Data::Reals, 1, 0, k, m * k);
    let b: Vec<f32> = elements(Data::Reals, 1, 1, k, k * n);
    let one = one_after_another(&a, &b);
    let (a, b) = (stream.clone_htod(&a)?, stream.clone_htod(&b)?);
    let mut c = stream.alloc_zeros::<f32>(m * n)?;

    println!("{SHAPE}: {} elements of C, {} multiprocessors", m * n, sgemm.n_sms);
    println!(
        "{:<32} {:<8} {:>6} {:>8} {:>9} {:>18}",
        "kernel", "shared", "blocks", "slices", "same bits", "largest difference"
    );
    for (index, plan) in PLANS.iter().enumerate() {
        if plan.source == Source::Words {
            continue; // They add up as boxes of the same tile do.
        }
        for (sharing, word) in [(Sharing::Tiles, "tiles"), (Sharing::LastRound, "steps")] {
            let (tiles, steps) = (plan.tiles(m, n), plan.steps(k));
            let Some(shares) = plan.shares(tiles, steps, sharing, sgemm.n_sms) else { continue };
            let choice = Choice { plan: index, sharing, packed: [false; 2], expected: 0.0 };
            sgemm.multiply_by(&Product::new(SHAPE), Some(choice), &a, &b, &mut c)?;
            let got = stream.clone_dtoh(&c)?;
            let pairs = || got.iter().zip(&one);
            let same = pairs().filter(|(x, y)| x.to_bits() == y.to_bits()).count();
            let farthest = pairs().map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            let (same, farthest) = (100.0 * same as f64 / one.len() as f64, format!("{farthest:.1e}"));
            let (name, blocks, slices) = (plan.entry, shares.blocks, plan.slices);
            println!("{name:<32} {word:<8} {blocks:>6} {slices:>8} {same:>7.1} % {farthest:>18}");
        }
    }
    Ok(())
}

/// Computes each element as one chain of multiply-adds.
fn one_after_another(a: &[f32], b: &[f32]) -> Vec<f32> {
    let Shape { m, n, k } = SHAPE;
    let mut c = vec![0.0f32; m * n];
    for (a, c) in a.chunks(k).zip(c.chunks_mut(n)) {
        for (a, b) in a.iter().zip(b.chunks(n)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c = a.mul_add(*b, *c);
            }
        }
    }
    c
}
