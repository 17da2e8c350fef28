//! Products by the library on the emulated device, beside sums in double precision.

use std::sync::{Arc, Once};

use cudarc::driver::{CudaContext, CudaStream};
use harness::inputs::Real;
use harness::{Bf16, Shape};
use v12::gemm::{Activation, Choice, Costs, Error, Gemm, Layout, Output, Product, kernel_name};
use v12::plans::{PLANS, Plan};

fn loaded() -> (Arc<CudaStream>, Gemm) {
    static DRIVER: Once = Once::new();
    DRIVER.call_once(|| {
        emulator_client::preload().expect("Cargo built it");
    });
    let stream = CudaContext::new(0).expect("there is a device").per_thread_stream();
    let gemm = Gemm::load(&stream).expect("the kernels load");
    (stream, gemm)
}

/// Returns small whole numbers: every sum of their products is exact, in any order.
fn elements<T: Real>(n: usize, seed: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64(((i * 7919 + seed * 104_729) % 1009 % 7) as f64 - 3.0)).collect()
}

fn product<R>([m, n, k]: [usize; 3]) -> Product<'static, R> {
    Product::new(Shape { m, n, k })
}

fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::None => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh())
        }
    }
}

/// Checks one product by one choice; the elements of C behind its end stay.
#[track_caller]
fn check<R: Output + Real + std::fmt::Debug>(
    gemm: &Gemm,
    stream: &Arc<CudaStream>,
    product: &Product<'_, R>,
    choice: Option<Choice>,
) {
    const BEHIND: usize = 8;
    let Shape { m, n, k } = product.shape;
    let (a, b): (Vec<Bf16>, Vec<Bf16>) = (elements(m * k, 1), elements(k * n, 2));
    let c: Vec<R> = elements(m * n + BEHIND, 3);
    let old = product.old.map(|old| stream.clone_dtoh(old).expect("it ends well"));
    let bias = product.bias.map(|bias| stream.clone_dtoh(bias).expect("it ends well"));
    let (a_there, b_there) = (stream.clone_htod(&a).expect("room"), stream.clone_htod(&b).expect("room"));
    let mut c_there = stream.clone_htod(&c).expect("room");
    gemm.multiply_by(product, choice, &a_there, &b_there, &mut c_there).expect("the product is possible");
    let got = stream.clone_dtoh(&c_there).expect("it ends well");
    assert!(got[m * n..] == c[m * n..], "{product:?} {choice:?}: behind the end");
    for row in 0..m {
        for col in 0..n {
            let sum: f64 = (0..k)
                .map(|i| {
                    let a = if product.a == Layout::AsIs { a[row * k + i] } else { a[i * m + row] };
                    let b = if product.b == Layout::AsIs { b[i * n + col] } else { b[col * k + i] };
                    a.to_f64() * b.to_f64()
                })
                .sum();
            let old = old.as_ref().unwrap_or(&c)[row * n + col].to_f64();
            let x = f64::from(product.alpha) * sum + f64::from(product.beta) * old;
            let x = activated(product.activation, x + bias.as_ref().map_or(0.0, |bias| f64::from(bias[col])));
            let (right, got) = (R::from_f64(x), got[row * n + col]);
            let close = product.activation == Activation::Gelu
                && (got.to_f64() - x).abs() <= x.abs().max(1.0) / 128.0;
            assert!(
                right == got || close,
                "{product:?} {choice:?}: C[{row}][{col}] is {}, not {x}",
                got.to_f64()
            );
        }
    }
}

/// Returns shapes with less than a tile, edges in each direction with some steps, and several tiles.
fn shapes(plan: &Plan) -> [[usize; 3]; 3] {
    let [bm, bn] = plan.tile.map(|size| size as usize);
    if plan.anywhere {
        [[3, 5, 7], [bm + 1, bn + 3, 129], [2 * bm, 2 * bn, 320]]
    } else {
        [[3, 8, 8], [bm + 1, bn + 8, 136], [2 * bm + 1, 3 * bn, 328]]
    }
}

fn every_plan<R: Output + Real + std::fmt::Debug>() {
    let (stream, gemm) = loaded();
    for (i, plan) in PLANS.iter().enumerate() {
        for shape in shapes(plan) {
            let [_, n, k] = shape;
            let packed = [!k.is_multiple_of(8), !n.is_multiple_of(8)];
            let choice = Choice { plan: i, packed, expected: 0.0 };
            check(&gemm, &stream, &Product::<R> { alpha: 2.0, ..product(shape) }, Some(choice));
        }
    }
}

#[test]
fn every_plan_multiplies_every_shape() {
    every_plan::<f32>();
}

#[test]
fn every_plan_multiplies_every_shape_to_bf16() {
    every_plan::<Bf16>();
}

#[test]
fn every_fused_plan_applies_every_epilogue() {
    let (stream, gemm) = loaded();
    let fused = PLANS.iter().enumerate().filter(|(_, plan)| plan.fused);
    for (i, plan) in fused {
        let shape = shapes(plan)[1];
        let [m, n, k] = shape;
        let choice =
            Some(Choice { plan: i, packed: [!k.is_multiple_of(8), !n.is_multiple_of(8)], expected: 0.0 });
        let bias = stream.clone_htod(&elements::<f32>(n, 4)).expect("room");
        let old = stream.clone_htod(&elements::<Bf16>(m * n, 5)).expect("room");
        let bias = Some(&bias);
        for activation in [Activation::None, Activation::Relu, Activation::Gelu] {
            check(&gemm, &stream, &Product::<f32> { beta: -3.0, bias, activation, ..product(shape) }, choice);
        }
        let residual =
            Product { beta: 1.0, old: Some(&old), bias, activation: Activation::Relu, ..product(shape) };
        check::<Bf16>(&gemm, &stream, &residual, choice);
    }
}

#[test]
fn operands_may_be_stored_transposed() {
    let (stream, gemm) = loaded();
    for a in [Layout::AsIs, Layout::Transposed] {
        for b in [Layout::AsIs, Layout::Transposed] {
            for shape in [[65, 72, 64], [67, 71, 65]] {
                check::<Bf16>(&gemm, &stream, &Product { a, b, ..product(shape) }, None);
            }
        }
    }
}

#[test]
fn products_follow_each_other() {
    let (stream, gemm) = loaded();
    let n = 72;
    let mut x = stream.clone_htod(&elements::<Bf16>(n * n, 1)).expect("room");
    let unit: Vec<Bf16> =
        (0..n * n).map(|i| Bf16::from_f64(if i / n == i % n { 1.0 } else { 0.0 })).collect();
    let unit = stream.clone_htod(&unit).expect("room");
    let mut y = stream.alloc_zeros::<Bf16>(n * n).expect("room");
    for _ in 0..4 {
        gemm.multiply(&product([n; 3]), &x, &unit, &mut y).expect("the product is possible");
        gemm.multiply(&product([n; 3]), &unit, &y, &mut x).expect("the product is possible");
    }
    assert!(stream.clone_dtoh(&x).expect("it ends well") == elements::<Bf16>(n * n, 1));
}

#[test]
fn what_cannot_be_multiplied_is_refused() {
    let (stream, gemm) = loaded();
    let x = stream.alloc_zeros::<Bf16>(63).expect("room");
    let mut c = stream.alloc_zeros::<f32>(64).expect("room");
    let bias = stream.alloc_zeros::<f32>(7).expect("room");
    let mut refused =
        |product: Product<'_, f32>| gemm.multiply(&product, &x, &x, &mut c).expect_err("it is impossible");
    assert_eq!(refused(product([0, 8, 8])), Error::Empty(Shape { m: 0, n: 8, k: 8 }));
    assert_eq!(refused(product([8, 8, 8])), Error::TooShort { operand: "A", needed: 64, there: 63 });
    assert_eq!(
        refused(Product { bias: Some(&bias), ..product([7, 8, 7]) }),
        Error::TooShort { operand: "bias", needed: 8, there: 7 }
    );
    for size in [1 << 20, 1 << 40] {
        assert!(matches!(refused(product([size, size, 8])), Error::TooLarge { .. }));
    }
}

#[test]
fn each_kernel_has_costs() {
    let costs = Costs::committed();
    for plan in PLANS {
        for suffix in [f32::SUFFIX, Bf16::SUFFIX] {
            let name = kernel_name(&plan, suffix);
            assert!(costs.kernels.contains_key(&name), "{name}: measure it again with cargo xtask tune v12");
        }
    }
    assert_eq!(costs.kernels.len(), 2 * PLANS.len());
    assert!(PLANS.iter().all(|plan| costs.clusters_at_once.contains_key(&plan.cluster())));
    let named = costs.fastest.values().flatten();
    assert!(named.clone().count() > 0 && named.into_iter().all(|name| costs.kernels.contains_key(name)));
}
