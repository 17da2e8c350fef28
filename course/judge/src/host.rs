//! Judges answers to tasks for the host: the geometry of a launch, the operands of a cuBLAS call.

use catalog::Shape;
use tasks::compile::Refused;
use tasks::host::{BlasAnswer, HostCall, LaunchAnswer, NO_IDLE_BLOCKS, Number};
use tasks::part_id::{self, WRONG_RESULT};
use tasks::verdict::{CLEAN, Part, RIGHT, Status, Verdict};
use tasks::{Task, TomlError};

use crate::emulated_module::{EmulatedModule, LaunchSetup};
use crate::trial::{Mismatch, Trial, trials};
use crate::{JudgeError, Judgement, Request, keep_more_informative, shapes};

/// Judges an answer. For a launch, `request.ptx` is the finished kernel.
///
/// # Errors
/// Returns an error if the finished kernel cannot be loaded, whatever the answer.
pub fn judge(request: &Request<'_>, call: &HostCall, answer: &str) -> Result<Verdict, JudgeError> {
    let outcome = match call {
        HostCall::Launch { .. } => {
            let module =
                EmulatedModule::new(request).map_err(|why| format!("the finished kernel cannot be launched: {why}"))?;
            TomlError::read(answer).map(|answer| launch(request, &module, &answer))
        }
        HostCall::Blas => TomlError::read(answer).map(|answer| blas(request, &answer)),
    };
    Ok(match outcome {
        Ok(verdict) => verdict,
        Err(why) => {
            let refused = Refused::from_log(&why.to_string());
            let mut verdict = Verdict::refused(request.task.name.clone(), &[], refused);
            READ.clone_into(&mut verdict.parts[0].what);
            verdict
        }
    })
}

/// Reason for parts that were not run.
pub(crate) const NOT_RIGHT: &str = "the launch is not right yet";
const READ: &str = "the file can be read";

/// Returns a verdict whose parts have passed so far.
fn all_passed(task: &Task) -> Verdict {
    let mut verdict = Verdict::stopped(task.name.clone(), &[], "", "");
    verdict.status = Status::Passed;
    (verdict.code, verdict.why) = (None, None);
    verdict.parts = vec![
        Part::passed(part_id::COMPILES, READ),
        Part::passed(part_id::RIGHT, RIGHT),
        Part::passed(part_id::CLEAN, CLEAN),
    ];
    verdict
}

/// Marks part `at` as failed, and the parts after it as not run.
fn failed(mut verdict: Verdict, at: usize, code: &str, why: &str) -> Verdict {
    verdict.status = Status::Failed;
    verdict.code = Some(code.to_owned());
    verdict.why = Some(why.to_owned());
    // A wrong result carries no information beside a mistake in the launch.
    verdict.wrong = verdict.wrong.filter(|_| at == RIGHT_AT);
    for (number, part) in verdict.parts.iter_mut().enumerate() {
        if number == at {
            part.status = Status::Failed;
            part.why = Some(why.to_owned());
        } else if number > at || at == CLEAN_AT && number == RIGHT_AT {
            part.status = Status::NotRun;
            part.why = Some(NOT_RIGHT.into());
        }
    }
    verdict
}

const READ_AT: usize = 0;
const RIGHT_AT: usize = 1;
const CLEAN_AT: usize = 2;
const IDLE_AT: usize = 3;

/// Evaluates the three sizes of a grid or block.
fn sizes(numbers: &[Number; 3], shape: Shape) -> Result<[u32; 3], String> {
    let mut sizes = [0; 3];
    for (size, number) in sizes.iter_mut().zip(numbers) {
        let value = number.value(shape)?;
        *size = u32::try_from(value).map_err(|_| format!("{value} is not a size, for {shape}"))?;
    }
    Ok(sizes)
}

fn setup(answer: &LaunchAnswer, shape: Shape) -> Result<LaunchSetup, String> {
    Ok(LaunchSetup {
        grid: sizes(&answer.grid, shape)?,
        block: sizes(&answer.block, shape)?,
        arguments: answer.arguments.clone(),
    })
}

fn launch(request: &Request<'_>, module: &EmulatedModule<'_>, answer: &LaunchAnswer) -> Verdict {
    let task = request.task;
    let (idle_blocks, what) = NO_IDLE_BLOCKS;
    let no_idle_blocks = Part::passed(idle_blocks, what);
    let mut judgement = Judgement::<f32>::new(request, module);
    let mut idle = None;
    for shape in shapes::shapes_for(task, request.seed, request.shapes) {
        let setup = match setup(answer, shape) {
            Ok(setup) => setup,
            Err(why) => {
                let mut verdict = all_passed(task);
                verdict.parts.push(no_idle_blocks);
                return failed(verdict, READ_AT, "compile", &why);
            }
        };
        if !judgement.run_shape(shape, &setup) {
            break;
        }
        let blocks = |grid: [u32; 3]| grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let (launched, needed) = (blocks(setup.grid), blocks(task.grid(shape)));
        if launched > needed && idle.is_none() {
            idle = Some(format!("{shape} needs {needed} blocks, and {launched} are launched"));
        }
    }
    let mut verdict = judgement.verdict(Vec::new());
    READ.clone_into(&mut verdict.parts[READ_AT].what);
    verdict.parts.push(no_idle_blocks);
    match (verdict.status, idle) {
        (Status::Passed, None) => verdict,
        (Status::Passed, Some(why)) => failed(verdict, IDLE_AT, idle_blocks, &why),
        _ => {
            verdict.parts[IDLE_AT].status = Status::NotRun;
            verdict.parts[IDLE_AT].why = Some(NOT_RIGHT.into());
            verdict
        }
    }
}

/// A column-major matrix in memory.
struct Operand<'a> {
    values: &'a [f32],
    transposed: bool,
    leading_dimension: usize,
    name: &'a str,
}

impl Operand<'_> {
    /// Returns the element `op(X)[row][col]`; fails outside of the matrix.
    fn element(&self, row: usize, col: usize) -> Result<f64, CallError> {
        let (row, col) = if self.transposed { (col, row) } else { (row, col) };
        let at = col
            .checked_mul(self.leading_dimension)
            .and_then(|start| start.checked_add(row))
            .filter(|at| *at < self.values.len());
        let past_the_end = || out_of_bounds(format!("read past the end of `{}`", self.name));
        at.map(|at| f64::from(self.values[at])).ok_or_else(past_the_end)
    }
}

fn blas(request: &Request<'_>, answer: &BlasAnswer) -> Verdict {
    let task = request.task;
    let mut verdict = all_passed(task);
    let mut kept = None;
    for shape in shapes::shapes_for(task, request.seed, request.shapes) {
        let mut right = true;
        for trial in trials::<f32>(task.work, shape, request.seed, request.threads) {
            let got = match multiply(answer, &trial) {
                Ok(got) => got,
                Err((part, code, why)) => return failed(verdict, part, code, &format!("on {shape}: {why}")),
            };
            if let Some(mismatch) = trial.mismatch(task, &got) {
                keep_more_informative(&mut kept, mismatch);
                right = false;
                break;
            }
        }
        verdict.n_shapes += usize::from(right);
        verdict.n_tried += 1;
    }
    match kept {
        None => verdict,
        Some(Mismatch { wrong, .. }) => {
            let why = wrong.in_a_sentence();
            verdict.wrong = Some(wrong);
            failed(verdict, RIGHT_AT, WRONG_RESULT, &why)
        }
    }
}

/// Part of the verdict that fails, its code, and the reason.
type CallError = (usize, &'static str, String);

fn out_of_bounds(why: String) -> CallError {
    (CLEAN_AT, "E-OOB", why)
}

/// Computes the result of `cublasSgemm` with the arguments of an answer.
fn multiply(answer: &BlasAnswer, trial: &Trial<f32>) -> Result<Vec<f32>, CallError> {
    let shape = trial.shape;
    let misread = |why: String| (READ_AT, "compile", why);
    let refused = |why: String| (CLEAN_AT, "E-LAUNCH", format!("cuBLAS reports CUBLAS_STATUS_INVALID_VALUE: {why}"));
    let size = |name: &str, number: &Number| {
        let value = number.value(shape).map_err(|why| misread(format!("{name}: {why}")))?;
        usize::try_from(value).map_err(|_| refused(format!("{name} is {value}")))
    };
    let transposed = |name: &str, text: &str| match text {
        "n" | "N" => Ok(false),
        "t" | "T" => Ok(true),
        other => Err(misread(format!("{name}: `{other}` is neither n nor t"))),
    };
    let values = |name: &str, text: &str| match text {
        "A" => Ok(trial.inputs[0].as_slice()),
        "B" => Ok(trial.inputs[1].as_slice()),
        other => Err(misread(format!("{name}: `{other}` is neither A nor B"))),
    };
    let (m, n, k) = (size("m", &answer.m)?, size("n", &answer.n)?, size("k", &answer.k)?);
    let (lda, ldb, ldc) = (size("lda", &answer.lda)?, size("ldb", &answer.ldb)?, size("ldc", &answer.ldc)?);
    let a = Operand {
        values: values("a", &answer.a)?,
        transposed: transposed("transa", &answer.transa)?,
        leading_dimension: lda,
        name: &answer.a,
    };
    let b = Operand {
        values: values("b", &answer.b)?,
        transposed: transposed("transb", &answer.transb)?,
        leading_dimension: ldb,
        name: &answer.b,
    };
    let rows = [
        ("lda", lda, if a.transposed { k } else { m }),
        ("ldb", ldb, if b.transposed { n } else { k }),
        ("ldc", ldc, m),
    ];
    for (name, leading_dimension, rows) in rows {
        if leading_dimension < rows.max(1) {
            return Err(refused(format!(
                "{name} is {leading_dimension}, and a column of that matrix has {rows} elements"
            )));
        }
    }
    let mut c = trial.start.clone();
    // Columns without rows write nothing, however many they are.
    if m == 0 {
        return Ok(c);
    }
    // Sizes may be far too large; the loop then ends early, at the first element outside of a matrix.
    for col in 0..n {
        for row in 0..m {
            let mut sum = 0.0;
            for term in 0..k {
                sum += a.element(row, term)? * b.element(term, col)?;
            }
            let at = col.checked_mul(ldc).and_then(|start| start.checked_add(row));
            let element = at.and_then(|at| c.get_mut(at));
            *element.ok_or_else(|| out_of_bounds("write past the end of `C`".into()))? = sum as f32;
        }
    }
    Ok(c)
}
