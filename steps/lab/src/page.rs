//! The page that `bench` prints for people.

use ladder::text::{Paint, Table};
use ladder::{Measurement, Outcome, Shape};
use serde_json::Value;

use crate::Lab;

/// Which step, on what, when.
pub fn header(lab: &Lab<'_>) -> String {
    let paint = Paint::for_stdout();
    let step = lab.step;
    let title = paint.bold(&format!("{} {}", step.id, step.name));
    format!("{title}: {}\n{}, {}\n", step.idea, lab.run.device, lab.run.date)
}

/// What came out for a shape.
pub fn case(_lab: &Lab<'_>, shape: Shape, measured: &[(Measurement, Option<Value>)]) -> String {
    let mut table = Table::new(["kernel", "outcome"]).left(2);
    for (measurement, _) in measured {
        let outcome = match &measurement.outcome {
            Outcome::Passed(passed) => format!("right, {:.1e} of its bound", passed.accuracy.max_of_bound),
            Outcome::Failed { why, .. } => format!("wrong: {why}"),
            Outcome::NotRun { why } => format!("not run: {why}"),
        };
        table.row([measurement.kernel.clone(), outcome]);
    }
    format!("\n{shape}\n{}", table.render(Paint::for_stdout()))
}
