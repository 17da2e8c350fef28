//! A pitfall, three times: the program as it was, the report of the emulated device, the result of `check`.
//!
//! The first runs without checks, as a GPU does. The others are asked afterwards, so that what each would have said
//! can be set beside what was believed.

use std::error::Error;

use catalog::{Work, sizes};
use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use diagnosis::{Terms, WrongResult};
use emulator_client::CheckLevel;
use harness::inputs::{Data, Real as _};
use harness::reference::Problem;
use harness::{Shape, to_i32, verify};
use serde_json::Value;

/// A kernel with the ladder's parameters: M, N, K, A, B, C.
#[derive(Debug, Clone, Copy)]
pub struct Pitfall {
    pub ptx: &'static str,
    /// Name of its entry point.
    pub kernel: &'static str,
    pub geometry: fn(Shape) -> LaunchConfig,
}

/// The kernel of `kernels/NAME.cu`, one thread per element of C.
#[macro_export]
macro_rules! pitfall {
    ($name:literal) => {
        $crate::pitfall::Pitfall {
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $name, ".ptx")),
            kernel: $name,
            geometry: $crate::pitfall::squares,
        }
    };
}

/// Blocks of 16 × 16 threads, one thread per element of C.
pub fn squares(shape: Shape) -> LaunchConfig {
    tiles(shape, 16, (16, 16, 1))
}

/// Blocks that own `EDGE` × `EDGE` elements of C, with 256 threads in a row: those of the ladder from v02 on.
pub fn in_a_row<const EDGE: u32>(shape: Shape) -> LaunchConfig {
    tiles(shape, EDGE, (256, 1, 1))
}

fn tiles(shape: Shape, edge: u32, block_dim: (u32, u32, u32)) -> LaunchConfig {
    LaunchConfig { block_dim, ..harness::grid_of_tiles(shape, [edge, edge], 1) }
}

impl Pitfall {
    // ANCHOR: multiply
    /// Copies A, B and C to the device, launches, and copies C back.
    pub fn multiply(&self, shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) -> Result<(), DriverError> {
        let context = CudaContext::new(0)?;
        let stream = context.default_stream();
        let module = context.load_module(self.ptx.into())?;
        let kernel = module.load_function(self.kernel)?;
        let (a, b) = (stream.clone_htod(a)?, stream.clone_htod(b)?);
        let mut c_on_gpu = stream.clone_htod(c)?;
        let (m, n, k) = (to_i32(shape.m), to_i32(shape.n), to_i32(shape.k));
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&m).arg(&n).arg(&k).arg(&a).arg(&b).arg(&mut c_on_gpu);
        // SAFETY: the arguments are what the kernel takes. What it does with them is the subject.
        unsafe { launch.launch((self.geometry)(shape)) }?;
        stream.memcpy_dtoh(&c_on_gpu, c)?;
        stream.synchronize()
    }
    // ANCHOR_END: multiply

    // ANCHOR: largest_error
    /// Multiplies small whole numbers, and compares C with what the CPU finds.
    pub fn largest_error(&self, shape: Shape) -> Result<f32, Box<dyn Error>> {
        let a: Vec<f32> = (0..shape.m * shape.k).map(|i| (i % 7) as f32).collect();
        let b: Vec<f32> = (0..shape.k * shape.n).map(|i| (i % 5) as f32).collect();
        let mut c = vec![0.0; shape.m * shape.n];
        self.multiply(shape, &a, &b, &mut c)?;
        let reference = on_the_cpu(shape, &a, &b);
        let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
        Ok(errors.fold(0.0, f32::max))
    }
    // ANCHOR_END: largest_error

    /// Like [`Self::multiply`], into memory on the device that nobody has written.
    pub fn multiply_into_fresh(&self, shape: Shape, a: &[f32], b: &[f32]) -> Result<Vec<f32>, DriverError> {
        let context = CudaContext::new(0)?;
        let stream = context.default_stream();
        let module = context.load_module(self.ptx.into())?;
        let kernel = module.load_function(self.kernel)?;
        let (a, b) = (stream.clone_htod(a)?, stream.clone_htod(b)?);
        // SAFETY: any bits are a float; the kernel should write them all.
        let mut c = unsafe { stream.alloc::<f32>(shape.m * shape.n) }?;
        let (m, n, k) = (to_i32(shape.m), to_i32(shape.n), to_i32(shape.k));
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&m).arg(&n).arg(&k).arg(&a).arg(&b).arg(&mut c);
        // SAFETY: the arguments are what the kernel takes.
        unsafe { launch.launch((self.geometry)(shape)) }?;
        stream.clone_dtoh(&c)
    }
}

/// A·B by the CPU, the plain way: what such programs compare with.
pub fn on_the_cpu(shape: Shape, a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut c = vec![0.0; shape.m * shape.n];
    for row in 0..shape.m {
        for k in 0..shape.k {
            for col in 0..shape.n {
                c[row * shape.n + col] += a[row * shape.k + k] * b[k * shape.n + col];
            }
        }
    }
    c
}

type Program = fn() -> Result<(), Box<dyn Error>>;

/// Runs a program without checks, as a GPU does.
pub fn as_it_was(program: Program) -> Result<(), Box<dyn Error>> {
    quiet()?;
    print("As it was:");
    if let Some(emulator) = emulator_client::find() {
        emulator.set_checks(Some(CheckLevel::Off));
    }
    program()
}

/// Shows a program as it was, what the emulated device says of a run, and what `check` says of the pitfall.
pub fn show(
    program: Program,
    (what, run): (&str, Program),
    (pitfall, about): (&Pitfall, Shape),
) -> Result<(), Box<dyn Error>> {
    as_it_was(program)?;
    on_the_emulator(what, run);
    what_check_says(pitfall, about);
    Ok(())
}

/// Shows a program as it was, launches what is refused, and looks at the code that comes back. What is wrong
/// the emulated device tells on standard error, checks or not.
///
/// # Panics
/// Panics if the launch is not refused: then it is no pitfall.
pub fn refused(program: Program, pitfall: &Pitfall, shape: Shape) -> Result<(), Box<dyn Error>> {
    as_it_was(program)?;
    print("\nA program that checks the launch's result gets:");
    if let Some(emulator) = emulator_client::find() {
        emulator.set_diagnosis(Some(true));
    }
    let (a, b) = (vec![1.0; shape.m * shape.k], vec![1.0; shape.k * shape.n]);
    let outcome = pitfall.multiply(shape, &a, &b, &mut vec![0.0; shape.m * shape.n]);
    let error = outcome.expect_err("a pitfall of refused launches");
    print(&format!("  {}", harness::describe(error)));
    print("and the emulated GPU says on standard error:");
    Ok(())
}

/// Runs something on the emulated device with all checks on, and prints what they find.
pub fn on_the_emulator(what: &str, run: impl FnOnce() -> Result<(), Box<dyn Error>>) {
    print(&format!("\nThe emulated GPU, {what}:"));
    let Some(emulator) = emulator_client::find() else {
        print("  not asked: this is a real GPU; ask it with TILE_DEVICE=emulated");
        return;
    };
    emulator.set_checks(Some(CheckLevel::CheckedWithGlobalRaces));
    let outcome = run();
    emulator.set_checks(Some(CheckLevel::Off));
    let report: Value =
        emulator.report().and_then(|report| serde_json::from_str(&report).ok()).unwrap_or_default();
    let texts: Vec<&str> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finding| finding["text"].as_str())
        .collect();
    match (texts.is_empty(), outcome) {
        (true, Ok(())) => print("nothing to report: every access was legal"),
        (true, Err(error)) => print(&format!("the launch is refused: {error}")),
        (false, _) => print(texts.join("\n").trim_end()),
    }
}

/// A step's kernel with a mistake: what the emulated device says of a product of ones, with all checks on.
pub fn wrong(pitfall: &Pitfall, shape: Shape) -> Result<(), Box<dyn Error>> {
    quiet()?;
    on_the_emulator(&format!("{} at {shape}", pitfall.kernel), || {
        let (a, b) = (vec![1.0; shape.m * shape.k], vec![1.0; shape.k * shape.n]);
        Ok(pitfall.multiply(shape, &a, &b, &mut vec![0.0; shape.m * shape.n])?)
    });
    Ok(())
}

/// Like [`wrong()`], for a transpose of v08 by tiles of 32; and counts the elements of its result that are wrong.
pub fn wrong_transpose(ptx: &str, kernel: &str, rows: usize, cols: usize) -> Result<(), Box<dyn Error>> {
    const EDGE: u32 = 32;
    quiet()?;
    let start: Vec<f32> = (0..rows * cols).map(|i| 1.0 + i as f32).collect();
    let mut result = None;
    on_the_emulator(&format!("{kernel} at {rows}x{cols}"), || {
        let stream = CudaContext::new(0)?.default_stream();
        let kernel = stream.context().load_module(ptx.into())?.load_function(kernel)?;
        let input = stream.clone_htod(&start)?;
        let mut output = stream.alloc_zeros::<f32>(rows * cols)?;
        let (rows_arg, cols_arg) = (to_i32(rows), to_i32(cols));
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&rows_arg).arg(&cols_arg).arg(&input).arg(&mut output);
        let config = tiles(Shape { m: rows, n: cols, k: 0 }, EDGE, (EDGE * EDGE, 1, 1));
        // SAFETY: the arguments are what the kernel takes. What it does with them is the subject.
        unsafe { launch.launch(config) }?;
        stream.synchronize()?;
        result = Some(stream.clone_dtoh(&output)?);
        Ok(())
    });
    if let Some(result) = result {
        let right = |at: usize| start[at % rows * cols + at / rows];
        let n_wrong = (0..result.len()).filter(|&at| result[at] != right(at)).count();
        print(&format!("{n_wrong} of {} elements of the result are wrong", result.len()));
    }
    Ok(())
}

/// Findings are printed once, by whoever asks. Blocks run one after another: what is wrong is wrong in the same way
/// each time.
fn quiet() -> Result<(), Box<dyn Error>> {
    drop(crate::device()?);
    if let Some(emulator) = emulator_client::find() {
        emulator.set_diagnosis(Some(false));
        emulator.set_threads(Some(1));
    }
    Ok(())
}

/// Does what `check` does with a product: awkward shapes, seeded inputs of two kinds, C full of NaN before, every
/// element inside its bound after. Prints how many shapes the pitfall passes, and what is said of it on one of the
/// others.
///
/// # Panics
/// Panics if nothing is found: then it is no pitfall.
pub fn what_check_says(pitfall: &Pitfall, about: Shape) {
    let all = sizes::awkward(Work::Sgemm);
    assert!(all.contains(&about), "check does not try {about}");
    let outcomes = all.iter().map(|shape| (shape, judge(pitfall, *shape)));
    let failed: Vec<_> = outcomes.filter_map(|(shape, outcome)| Some((shape, outcome.err()?))).collect();
    print(&format!(
        "\ncargo xtask check's shapes, inputs and bounds: {} of {} shapes fail; {about}:",
        failed.len(),
        all.len()
    ));
    let told = failed.into_iter().find(|(shape, _)| **shape == about);
    let Some((_, told)) = told else { panic!("{} is right on {about}: it is no pitfall", pitfall.kernel) };
    for line in told.lines() {
        print(&format!("  {line}"));
    }
}

fn judge(pitfall: &Pitfall, shape: Shape) -> Result<(), String> {
    for data in [Data::Integers, Data::Reals] {
        let problem = Problem::<f32>::new(shape, data, 1);
        let mut c = vec![f32::POISON; shape.m * shape.n];
        pitfall
            .multiply(shape, &problem.a, &problem.b, &mut c)
            .map_err(|error| format!("the driver reports {}", harness::describe(error)))?;
        let answer = problem.answer();
        let comparison = verify::compare(&answer, &c);
        if comparison.is_right() {
            continue;
        }
        let (cols, rows, _) = (pitfall.geometry)(shape).block_dim;
        let result = WrongResult {
            answer: &answer,
            got: f32::widen(&c),
            comparison: &comparison,
            work: Work::Sgemm,
            // Threads in a row say nothing of the tile.
            tile: (rows > 1).then_some([rows as usize, cols as usize]),
            terms: Some(Terms::of(&problem)),
            right_on_integers: data == Data::Reals,
        };
        return Err(result.diagnose().details);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "pitfalls show what came out")]
fn print(text: &str) {
    println!("{text}");
}
