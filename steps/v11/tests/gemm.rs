//! Products by the library on the emulated device, beside sums in double precision.

use std::sync::{Arc, Once};

use cudarc::driver::{CudaContext, CudaStream, CudaViewMut};
use harness::Shape;
use v11::gemm::{Choice, Costs, Error, Form, Layout, Product, Sgemm};
use v11::plans::{PLANS, Sharing, Source};

fn loaded() -> (Arc<CudaStream>, Sgemm) {
    static DRIVER: Once = Once::new();
    DRIVER.call_once(|| {
        emulator_client::preload().expect("Cargo built it");
    });
    let stream = CudaContext::new(0).expect("there is a device").per_thread_stream();
    let sgemm = Sgemm::load(&stream).expect("the kernels load");
    (stream, sgemm)
}

/// Returns small whole numbers: every sum of their products is exact, in any order.
fn elements(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919 + seed * 104_729) % 1009 % 7) as f32 - 3.0).collect()
}

const LAYOUTS: [Layout; 2] = [Layout::AsIs, Layout::Transposed];

fn product([m, n, k]: [usize; 3]) -> Product {
    Product::new(Shape { m, n, k })
}

/// Checks one product by one choice; the elements of C behind its end stay.
#[track_caller]
fn check(sgemm: &Sgemm, stream: &Arc<CudaStream>, product: &Product, choice: Option<&Choice>) {
    const BEHIND: usize = 8;
    let Shape { m, n, k } = product.shape;
    let (a, b, mut c) = (elements(m * k, 1), elements(k * n, 2), elements(m * n + BEHIND, 3));
    if product.beta == 0.0 {
        // An old C that is read after all would show.
        c[..m * n].fill(f32::NAN);
    }
    let there = |v: &[f32]| stream.clone_htod(v).expect("there is room");
    let (a_there, b_there, mut c_there) = (there(&a), there(&b), there(&c));
    let done = sgemm.multiply_by(product, choice.copied(), &a_there, &b_there, &mut c_there);
    done.expect("the product is possible");
    let got = stream.clone_dtoh(&c_there).expect("it ends well");
    assert_eq!(got[m * n..], c[m * n..], "{product:?} {choice:?}: behind the end");
    for row in 0..m {
        for col in 0..n {
            let sum: f64 = (0..k)
                .map(|i| {
                    let a = if product.a == Layout::AsIs { a[row * k + i] } else { a[i * m + row] };
                    let b = if product.b == Layout::AsIs { b[i * n + col] } else { b[col * k + i] };
                    f64::from(a) * f64::from(b)
                })
                .sum();
            let old =
                if product.beta == 0.0 { 0.0 } else { f64::from(product.beta) * f64::from(c[row * n + col]) };
            let right = f64::from(product.alpha) * sum + old;
            assert_eq!(f64::from(got[row * n + col]), right, "{product:?} {choice:?}: C[{row}][{col}]");
        }
    }
}

#[test]
fn every_plan_shares_out_every_shape() {
    let (stream, sgemm) = loaded();
    for (i, plan) in PLANS.iter().enumerate() {
        let [bm, bn, bk] = plan.tile.map(|size| size as usize);
        // Less than a tile, and edges in each direction with some steps.
        let edges = [[3, 5, 7], [bm + 1, bn + 3, 3 * bk + 1], [bm - 1, bn + 1, bk + 4], [bm, 2 * bn, 5 * bk]];
        for (shape, beta) in edges.into_iter().zip([3.0, 0.0, 3.0, 0.0]) {
            for sharing in [Sharing::Tiles, Sharing::LastRound] {
                let product = Product { alpha: 2.0, beta, ..product(shape) };
                let tiles = (plan.tiles(shape[0], shape[1]), plan.steps(shape[2]));
                if plan.shares(tiles.0, tiles.1, sharing, sgemm.n_sms).is_none() {
                    continue;
                }
                let packed = [
                    plan.source == Source::Boxes && !shape[2].is_multiple_of(4),
                    plan.source == Source::Boxes && !shape[1].is_multiple_of(4),
                ];
                check(&sgemm, &stream, &product, Some(&Choice { plan: i, sharing, packed, expected: 0.0 }));
            }
        }
    }
}

#[test]
fn whole_tiles_follow_shared_ones() {
    let (stream, sgemm) = loaded();
    let plan = PLANS
        .iter()
        .position(|plan| plan.tile == [32, 64, 32] && plan.source == Source::Boxes)
        .expect("there is one");
    let slots = sgemm.n_sms * PLANS[plan].blocks as usize;
    // One row of tiles, two and a half rounds.
    let n = (2 * slots + slots / 2) * 64;
    for sharing in [Sharing::LastRound, Sharing::LastTwoRounds] {
        let choice = Choice { plan, sharing, packed: [false; 2], expected: 0.0 };
        check(&sgemm, &stream, &product([2, n, 64]), Some(&choice));
    }
}

#[test]
fn all_layouts_with_alpha_and_beta() {
    let (stream, sgemm) = loaded();
    for a in LAYOUTS {
        for b in LAYOUTS {
            for (alpha, beta) in [(1.0, 0.0), (-2.0, 1.0), (0.0, 2.0)] {
                for shape in [[33, 20, 41], [64, 64, 32]] {
                    check(&sgemm, &stream, &Product { alpha, beta, a, b, ..product(shape) }, None);
                }
            }
        }
    }
}

#[test]
fn views_that_begin_anywhere() {
    let (stream, sgemm) = loaded();
    let (m, n, k) = (8, 12, 16);
    let elements = stream.clone_htod(&vec![1.0f32; 1000]).expect("there is room");
    let mut c = stream.alloc_zeros::<f32>(200).expect("there is room");
    let product = product([m, n, k]);
    let multiply = |c: &mut CudaViewMut<'_, f32>| {
        sgemm.multiply(&product, &elements.slice(1..), &elements.slice(2..), c)
    };
    multiply(&mut c.slice_mut(4..)).expect("possible");
    let got = stream.clone_dtoh(&c).expect("it ends well");
    assert!(got[4..4 + m * n].iter().all(|sum| *sum == k as f32), "{got:?}");
    assert!(matches!(multiply(&mut c.slice_mut(1..)), Err(Error::Misaligned(_))));
}

#[test]
fn what_is_no_product_is_refused() {
    let (stream, sgemm) = loaded();
    let small = stream.alloc_zeros::<f32>(16).expect("there is room");
    let mut c = stream.alloc_zeros::<f32>(16).expect("there is room");
    let mut error =
        |shape| sgemm.multiply(&product(shape), &small, &small, &mut c).expect_err("impossible").to_string();
    assert_eq!(error([4, 4, 5]), "A needs 20 elements for this shape, and has 16");
    assert_eq!(error([4, 0, 4]), "4x0x4 is not a valid shape: M, N and K must be at least 1");
    assert_eq!(
        error([1 << 20, 4, 1 << 12]),
        "A has 4299161600 elements, packed; the kernels take fewer than 2147483648"
    );
}

#[test]
fn costs_are_those_of_the_plans() {
    let costs = Costs::committed();
    let mut names: Vec<_> = PLANS.iter().map(|plan| plan.entry).collect();
    names.sort_unstable();
    assert_eq!(costs.plans.keys().collect::<Vec<_>>(), names);
    for (plan, costs) in &costs.plans {
        let all = [costs.float4s, costs.floats].map(<[f64; 9]>::from).concat();
        assert!(all.iter().all(|cost| cost.is_finite() && *cost >= 0.0), "{plan}: {all:?}");
    }
}

#[test]
fn a_choice_fits_the_operands() {
    let costs = Costs::committed();
    for forms in [[Form::Aligned; 2], [Form::Anywhere; 2], [Form::Transposed, Form::Aligned]] {
        for size in [4, 100, 1000, 5000] {
            let choice = costs.choose(Shape::square(size), forms, 132);
            let boxes = PLANS[choice.plan].source == Source::Boxes;
            assert!(
                choice.expected > 0.0 && (boxes || !choice.packed.contains(&true)),
                "{forms:?} {size}: {choice:?}"
            );
        }
    }
}
