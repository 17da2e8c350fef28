//! Predicted times of plans: the emulated device runs their machine code, and no GPU is needed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cudarc::nvrtc::Ptx;
use harness::inputs::Real;
use harness::{Gpu, Shape, StepError, out};
use records::machine_code::PredictedLaunch;

use crate::gemm::{Factor, Gemm, Output, Product, To, operands};

/// A plan for a product, with its microseconds.
pub struct Predicted {
    pub plan: usize,
    /// From a run of the machine code; the error says why there is no prediction.
    pub us: Result<f64, String>,
    /// By the terms from which the library chooses.
    pub expected: f64,
}

/// Returns the library with its machine code: the emulated device has that of PTX otherwise.
pub fn of_machine_code<T: Factor>(gpu: &Gpu) -> Result<Gemm<T>, StepError> {
    let module = gpu.context.load_module(Ptx::from_binary(T::CODE.cubin.to_vec()))?;
    Ok(Gemm::of_module(&gpu.stream, &module)?)
}

/// Predicts the launch of each plan that can do a product, whose rows begin on 16 bytes: others are copied first.
pub fn plans<T: To<R>, R: Output + Real>(
    gpu: &Gpu,
    gemm: &Gemm<T>,
    shape: Shape,
) -> Result<Vec<Predicted>, StepError> {
    let Some(emulator) = gpu.emulator else {
        return Err(StepError::CouldNot("the emulated device predicts times: TILE_DEVICE=emulated".into()));
    };
    if shape.volume() == 0.0 {
        return Err(StepError::CouldNot(format!("{shape} is no product: M, N and K are at least 1")));
    }
    let product = Product::<R>::as_read::<T>(shape);
    if operands::<T, R>(&product, [0; 2]).iter().any(|operand| !operand.is_ready()) {
        return Err(StepError::CouldNot(format!(
            "{shape}: no plan multiplies rows of {} that do not begin on 16 bytes as they are; they are copied first, \
             and the times of plans are those of a shape with longer rows",
            T::NAME
        )));
    }
    let Shape { m, n, k } = shape;
    let (a, b) = (gpu.stream.alloc_zeros::<T>(m * k)?, gpu.stream.alloc_zeros::<T>(k * n)?);
    let mut c = gpu.stream.alloc_zeros::<R>(m * n)?;
    let possible = gemm.possible_plans(&product);
    let mut found = Vec::new();
    for (i, &(plan, expected)) in possible.iter().enumerate() {
        out::progress(&format!("plan {} of {}", i + 1, possible.len()));
        emulator.predict_next();
        gemm.multiply_by(&product, Some(plan), &a, &b, &mut c)?;
        gpu.stream.synchronize()?;
        let report = emulator.report().unwrap_or_default();
        let report: PredictedLaunch =
            serde_json::from_str(&report).map_err(|error| StepError::CouldNot(error.to_string()))?;
        let us = report.prediction.map(|prediction| prediction.us);
        found.push(Predicted {
            plan,
            us: us.ok_or_else(|| report.no_prediction.unwrap_or_default()),
            expected,
        });
    }
    out::progress_done();
    Ok(found)
}

/// Returns a table of the plans for a product, the fastest prediction first.
pub fn table<T: To<R>, R: Output + Real>(
    gpu: &Gpu,
    gemm: &Gemm<T>,
    shape: Shape,
) -> Result<String, StepError> {
    let mut all = plans(gpu, gemm, shape)?;
    let us = |one: &Predicted| *one.us.as_ref().unwrap_or(&f64::INFINITY);
    all.sort_by(|a, b| us(a).total_cmp(&us(b)));
    let chosen = gemm.choice(&Product::<R>::as_read::<T>(shape));
    let mut text = format!(
        "{shape}, {} to {}: microseconds by plan, predicted for an H200 and expected by the library\n\n\
         plan                 predicted   expected\n",
        T::NAME,
        R::SUFFIX
    );
    for one in &all {
        let predicted = one.us.as_ref().map_or("-".into(), |us| format!("{us:.2}"));
        let note = if one.plan == chosen { "  the library's choice" } else { "" };
        let name = T::PLANS[one.plan].name;
        let _ = writeln!(text, "{name:18} {predicted:>11} {:>10.2}{note}", one.expected);
    }
    for why in all.iter().filter_map(|one| one.us.as_ref().err()).collect::<BTreeSet<_>>() {
        let _ = writeln!(text, "no prediction: {why}");
    }
    Ok(text)
}
