//! Products by the library on the emulated device, beside sums in double precision.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Once};

use cudarc::driver::{CudaContext, CudaModule, CudaStream};
use harness::inputs::{Accumulator as _, Real, transposed};
use harness::{Bf16, E4m3, Shape};
use v12::gemm::{Activation, Costs, Error, Factor, Gemm, Layout, Output, Product, To, kernel_names};
use v12::plans::Plan;

/// Returns the library. Its kernels are loaded once for all tests: the driver compiles them.
fn loaded<T: Factor>() -> (Arc<CudaStream>, Gemm<T>) {
    static DRIVER: Once = Once::new();
    static MODULES: Mutex<BTreeMap<&str, Arc<CudaModule>>> = Mutex::new(BTreeMap::new());
    DRIVER.call_once(|| {
        emulator_client::preload().expect("Cargo built it");
    });
    let stream = CudaContext::new(0).expect("there is a device").per_thread_stream();
    let mut modules = MODULES.lock().expect("no panic");
    let load = || T::CODE.load(stream.context()).expect("the kernels load");
    let module = modules.entry(T::NAME).or_insert_with(load);
    let gemm = Gemm::of_module(&stream, module).expect("they have their names");
    drop(modules);
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

/// Returns a factor of this many rows and columns as numbers, row by row.
fn numbers<T: Real>(stored: &[T], layout: Layout, rows: usize, cols: usize) -> Vec<f64> {
    match layout {
        Layout::AsIs => T::widen(stored),
        Layout::Transposed => T::widen(&transposed(stored, cols, rows)),
    }
}

/// Checks one product by one plan; the elements of C behind its end stay.
#[track_caller]
fn check<T: To<R>, R: Output + Real + std::fmt::Debug>(
    gemm: &Gemm<T>,
    stream: &Arc<CudaStream>,
    product: &Product<'_, R>,
    plan: Option<usize>,
) {
    const BEHIND: usize = 8;
    let Shape { m, n, k } = product.shape;
    let (a, b): (Vec<T>, Vec<T>) = (elements(m * k, 1), elements(k * n, 2));
    let c: Vec<R> = elements(m * n + BEHIND, 3);
    let old = product.old.map(|old| stream.clone_dtoh(old).expect("it ends well"));
    let (a_numbers, b_numbers) = (numbers(&a, product.a, m, k), numbers(&b, product.b, k, n));
    let mut sums = vec![0.0; m * n];
    f64::gemm(m, k, n, &a_numbers, &b_numbers, &mut sums);
    let bias = product.bias.map(|bias| stream.clone_dtoh(bias).expect("it ends well"));
    let (a_there, b_there) = (stream.clone_htod(&a).expect("room"), stream.clone_htod(&b).expect("room"));
    let mut c_there = stream.clone_htod(&c).expect("room");
    gemm.multiply_by(product, plan, &a_there, &b_there, &mut c_there).expect("the product is possible");
    let got = stream.clone_dtoh(&c_there).expect("it ends well");
    assert!(got[m * n..] == c[m * n..], "{product:?} {plan:?}: behind the end");
    for row in 0..m {
        for col in 0..n {
            let sum = sums[row * n + col];
            let old = old.as_ref().unwrap_or(&c)[row * n + col].to_f64();
            let x = f64::from(product.alpha) * sum + f64::from(product.beta) * old;
            let before = x + bias.as_ref().map_or(0.0, |bias| f64::from(bias[col]));
            let x = activated(product.activation, before);
            let (right, got) = (R::from_f64(x), got[row * n + col]);
            // Half a unit in the last place of bf16, and the error of a tangent with 11 bits.
            let error = if R::SUFFIX == "f32" {
                2e-6 * before.abs()
            } else {
                x.abs() / 256.0 + before.abs() / 4096.0
            };
            let close = product.activation == Activation::Gelu && (got.to_f64() - x).abs() <= error;
            assert!(
                right == got || close,
                "{product:?} {plan:?}: C[{row}][{col}] is {}, not {x}",
                got.to_f64()
            );
        }
    }
}

/// Returns shapes with less than a tile, one row and a long sum, edges in each direction with some steps, and several
/// tiles.
fn shapes<T: Factor>(plan: &Plan) -> [[usize; 3]; 4] {
    let [bm, bn] = plan.tile.map(|size| size as usize);
    let line = T::LINE;
    if plan.anywhere {
        [[3, 5, 7], [1, 9, 9 * line + 1], [bm + 1, bn + 3, 2 * line + 1], [2 * bm, 2 * bn, 5 * line]]
    } else {
        [[3, 8, 8], [1, 8, 9 * line + 8], [bm + 1, bn + 8, 2 * line + 8], [2 * bm + 1, 3 * bn, 5 * line + 8]]
    }
}

fn every_plan<T: To<R>, R: Output + Real + std::fmt::Debug>(fast_sums: bool) {
    let (stream, gemm) = loaded::<T>();
    for (i, plan) in T::PLANS.iter().enumerate() {
        for shape in shapes::<T>(plan) {
            check(&gemm, &stream, &Product::<R> { alpha: 2.0, fast_sums, ..product(shape) }, Some(i));
        }
    }
}

#[test]
fn every_plan_multiplies_every_shape() {
    every_plan::<Bf16, f32>(false);
}

#[test]
fn every_plan_multiplies_every_shape_to_bf16() {
    every_plan::<Bf16, Bf16>(false);
}

#[test]
fn every_plan_multiplies_every_shape_of_tf32() {
    every_plan::<f32, f32>(false);
}

#[test]
fn every_plan_multiplies_every_shape_of_e4m3() {
    every_plan::<E4m3, f32>(false);
    every_plan::<E4m3, Bf16>(false);
}

#[test]
fn every_plan_multiplies_every_shape_of_e4m3_with_fast_sums() {
    every_plan::<E4m3, f32>(true);
    every_plan::<E4m3, Bf16>(true);
}

/// Checks all epilogues of all plans that are fused, with a bias, an activation, and an old C.
fn every_epilogue<T: To<R>, R: Output + Real + std::fmt::Debug>() {
    let (stream, gemm) = loaded::<T>();
    for (i, plan) in T::PLANS.iter().enumerate().filter(|(_, plan)| plan.fused) {
        let shape = shapes::<T>(plan)[2];
        let [m, n, _] = shape;
        let bias = stream.clone_htod(&elements::<f32>(n, 4)).expect("room");
        let old = stream.clone_htod(&elements::<R>(m * n, 5)).expect("room");
        let bias = Some(&bias);
        // GELU bends near zero.
        for (activation, scale) in
            [(Activation::None, 1.0), (Activation::Relu, 1.0), (Activation::Gelu, 1.0 / 64.0)]
        {
            let product =
                Product::<R> { alpha: scale, beta: -3.0 * scale, bias, activation, ..product(shape) };
            check(&gemm, &stream, &product, Some(i));
        }
        let residual = Product {
            beta: 1.0,
            old: Some(&old),
            bias,
            activation: Activation::Relu,
            fast_sums: true,
            ..product(shape)
        };
        check(&gemm, &stream, &residual, Some(i));
    }
}

#[test]
fn every_fused_plan_applies_every_epilogue() {
    every_epilogue::<Bf16, f32>();
    every_epilogue::<Bf16, Bf16>();
}

#[test]
fn every_fused_plan_applies_every_epilogue_to_products_of_other_types() {
    every_epilogue::<f32, f32>();
    every_epilogue::<E4m3, f32>();
    every_epilogue::<E4m3, Bf16>();
}

fn every_layout<T: To<R>, R: Output + Real + std::fmt::Debug>() {
    let (stream, gemm) = loaded::<T>();
    for a in [Layout::AsIs, Layout::Transposed] {
        for b in [Layout::AsIs, Layout::Transposed] {
            for shape in [[65, 72, 64], [67, 71, 65], [130, 260, 144]] {
                check(&gemm, &stream, &Product::<R> { a, b, ..product(shape) }, None);
            }
        }
    }
}

#[test]
fn operands_may_be_stored_transposed() {
    every_layout::<Bf16, Bf16>();
    every_layout::<f32, f32>();
    every_layout::<E4m3, Bf16>();
}

/// Floats are rounded to the nearest number of TF32, and not cut.
#[test]
fn floats_are_rounded_to_tf32() {
    /// Half the distance of numbers of TF32 above 1.
    const HALF: f32 = 1.0 / 2048.0;
    let (stream, gemm) = loaded::<f32>();
    let n = 64;
    let a = stream.clone_htod(&vec![1.0 + 1.5 * HALF; n * n]).expect("room");
    let b = stream.clone_htod(&vec![1.0 + HALF / 2.0; n * n]).expect("room");
    let mut c = stream.alloc_zeros::<f32>(n * n).expect("room");
    gemm.multiply(&product([n; 3]), &a, &b, &mut c).expect("the product is possible");
    let c = stream.clone_dtoh(&c).expect("it ends well");
    assert!(c.iter().all(|x| *x == n as f32 * (1.0 + 2.0 * HALF)), "{}", c[0]);
}

/// Small terms beside others 2^16 times as large: the tensor core loses them, and promoted sums keep them.
#[test]
fn promoted_sums_of_e4m3_keep_what_fast_ones_lose() {
    let (stream, gemm) = loaded::<E4m3>();
    let (n, k) = (64, 1024);
    // The first of each row of k is 256 * 256, the others are 1.
    let factor = |i: usize| E4m3::from_f64(if i.is_multiple_of(k) { 256.0 } else { 1.0 });
    let x = stream.clone_htod(&(0..n * k).map(factor).collect::<Vec<_>>()).expect("room");
    let sum = |fast_sums| {
        let product = Product { b: Layout::Transposed, fast_sums, ..product([n, n, k]) };
        let mut c = stream.alloc_zeros::<f32>(n * n).expect("room");
        gemm.multiply(&product, &x, &x, &mut c).expect("the product is possible");
        stream.clone_dtoh(&c).expect("it ends well")[0]
    };
    let right = 65536.0 + (k - 1) as f32;
    assert!((sum(false) - right).abs() < (sum(true) - right).abs(), "{} {}", sum(false), sum(true));
}

#[test]
fn products_follow_each_other() {
    let (stream, gemm) = loaded::<Bf16>();
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
    let (stream, gemm) = loaded::<Bf16>();
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

fn has_costs<T: Factor>() {
    let costs = Costs::of::<T>();
    let names = kernel_names::<T>().concat();
    for name in &names {
        assert!(costs.kernels.contains_key(name), "{name}: measure it again with cargo xtask tune v12");
    }
    assert_eq!(costs.kernels.len(), names.len());
    assert!(T::PLANS.iter().all(|plan| costs.clusters_at_once.contains_key(&plan.cluster())));
    assert!(costs.fastest.values().flatten().all(|name| names.contains(name)));
}

#[test]
fn each_kernel_has_costs() {
    has_costs::<Bf16>();
    has_costs::<f32>();
    has_costs::<E4m3>();
    assert!(!Costs::of::<Bf16>().fastest.is_empty());
}
