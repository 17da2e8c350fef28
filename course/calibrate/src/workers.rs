//! Measurements one after another, in worker processes: a kernel that goes wrong takes all with it that its process has
//! on the GPU.
//!
//! A worker prints a record for each measurement, with its value or its error, until its context is lost. One process
//! starts the workers, each at the measurement where the one before ended, and prints what they print.

#[cfg(test)]
mod tests;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitStatus, Stdio};

use catalog::process::Exit;
use harness::{Gpu, StepError};
use serde_json::{Value, json};

type Measure = dyn Fn(&Gpu) -> Result<Measured, StepError>;

pub(crate) struct Measurement {
    pub(crate) name: String,
    measure: Box<Measure>,
}

impl Measurement {
    pub(crate) fn new(name: String, measure: impl Fn(&Gpu) -> Result<Measured, StepError> + 'static) -> Self {
        Self { name, measure: Box::new(measure) }
    }
}

pub(crate) struct Measured {
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// Numbers from which the value was computed.
    pub(crate) raw: Value,
}

/// Numbers of measurements, and of those whose record is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) all: usize,
    pub(crate) failed: usize,
}

type Print<'p> = &'p mut dyn FnMut(&Value) -> Result<(), StepError>;

/// Measures one after another, until all are measured or the context is lost.
pub(crate) fn work(gpu: &Gpu, measurements: &[Measurement], print: Print<'_>) -> Result<(), StepError> {
    for Measurement { name, measure } in measurements {
        match measure(gpu).and_then(|measured| Ok(gpu.stream.synchronize().map(|()| measured)?)) {
            Ok(Measured { value, unit, raw }) => {
                print(&json!({"name": name, "value": value, "unit": unit, "raw": raw}))?;
            }
            Err(why) => {
                print(&error(name, &why))?;
                if gpu.stream.synchronize().is_err() {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Starts workers until there is a record for each name. `start` makes the command of one that skips so many.
pub(crate) fn supervise(
    names: &[String], start: impl Fn(usize) -> std::io::Result<Command>, print: Print<'_>,
) -> Result<Tally, StepError> {
    let (mut n, mut failed) = (0, 0);
    while n < names.len() {
        let before = n;
        let mut has_failed = false;
        let status = run(start(n), &mut |record| {
            n += 1;
            has_failed = !record["error"].is_null();
            failed += usize::from(has_failed);
            print(record)
        })?;
        if n == before && status.code() == Some(Exit::CouldNot as i32) {
            let left = names.len() - n;
            return Err(StepError::CouldNot(format!("the last {left} of {} were not measured", names.len())));
        }
        // After an error a worker may end; elsewhere it has not come to its next record.
        if !has_failed && let Some(name) = names.get(n) {
            n += 1;
            failed += 1;
            print(&error(name, &format!("its process ended with {status}")))?;
        }
    }
    Ok(Tally { all: names.len(), failed })
}

/// Runs a worker to its end, and passes its records on as they come.
fn run(worker: std::io::Result<Command>, print: Print<'_>) -> Result<ExitStatus, StepError> {
    let could_not = |error: std::io::Error| StepError::CouldNot(format!("a process that measures: {error}"));
    let mut worker = worker.and_then(|mut command| command.stdout(Stdio::piped()).spawn()).map_err(could_not)?;
    for line in worker.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
        // A line is not whole where its process has died.
        if let Ok(record) = serde_json::from_str(&line.map_err(could_not)?) {
            print(&record)?;
        }
    }
    worker.wait().map_err(could_not)
}

/// Returns the record of a measurement that failed.
pub(crate) fn error(name: &str, why: &dyn std::fmt::Display) -> Value {
    json!({"name": name, "error": why.to_string()})
}
