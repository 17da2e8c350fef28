//! The time that a real GPU would take, and what limits it.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use catalog::Shape;
use catalog::text::{Paint, Table};
use records::machine_code::{BINDS, Change, MachineCode, PredictedLaunch, Prediction};
use records::{Outcome, Record, Samples};

use super::{Entry, time};

/// Returns a table of predictions, and the reasons for missing ones. `records` are of real GPUs.
pub(super) fn tables(shape: Shape, entries: &[Entry<'_>], records: &[(String, Record)], paint: Paint) -> String {
    let mut out = String::new();
    let found: Vec<(&Entry<'_>, &MachineCode)> =
        entries.iter().filter_map(|entry| Some((entry, entry.passed()?.machine_code.as_deref()?))).collect();
    let predicted: Vec<_> =
        found.iter().filter_map(|(entry, code)| Some((*entry, *code, code.predicted.prediction.as_ref()?))).collect();
    if let Some((_, _, first)) = predicted.first() {
        out.push_str(&heading(first, paint));
        let mut table = Table::new(["kernel", "binds", "predicted", "recorded", "warps per SM", "limited by"]).left(2);
        for (entry, code, prediction) in &predicted {
            // The record is of the kernel as it was before an edit.
            let is_edited = code.before.is_some();
            let recorded = recorded(records, &entry.measurement.kernel, shape, &prediction.gpu);
            let recorded = recorded.filter(|_| !is_edited);
            table.row(row(&entry.measurement.kernel, &code.predicted, prediction, recorded));
        }
        out.push_str(&table.without_empty_columns().render(paint));
        out.extend(predicted.iter().map(|(entry, _, prediction)| idle(&entry.measurement.kernel, prediction)));
    }
    let name = |entry: &&Entry<'_>| entry.measurement.kernel.clone();
    let caveats = predicted.iter().filter_map(|(entry, _, prediction)| Some((name(entry), prediction.caveat()?)));
    for (caveat, kernels) in shared(caveats) {
        let _ = writeln!(out, "  {}: {caveat}", kernels.join(", "));
    }
    let reasons = found.iter().filter_map(|(entry, code)| Some((name(entry), code.predicted.no_prediction.clone()?)));
    for (why, kernels) in shared(reasons) {
        let _ = writeln!(out, "{}: no prediction: {why}", kernels.join(", "));
    }
    for (entry, code) in &found {
        if let Some(before) = &code.before {
            let change = change(&code.predicted, before);
            let _ = writeln!(out, "{}: your change: {change}", entry.measurement.kernel);
        }
    }
    match (out.is_empty(), predicted.is_empty()) {
        (false, true) => format!("\n{out}"),
        _ => out,
    }
}

/// Returns the texts about kernels, each with the kernels that share it.
fn shared(said: impl Iterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (kernel, text) in said {
        match all.iter_mut().find(|(other, _)| *other == text) {
            Some((_, kernels)) => kernels.push(kernel),
            None => all.push((text, vec![kernel])),
        }
    }
    all
}

fn heading(prediction: &Prediction, paint: Paint) -> String {
    let note = format!(
        "from the machine code, by a model of its multiprocessors; beside each, how far nine in ten predictions\n  \
         for other kernels of its kind were from their measured times; binds: the unit that is busy longest, in percent\n  \
         of the time; where none is busy for {:.0}%, the kernel waits",
        100.0 * BINDS
    );
    let title = format!("Predicted for an {}, caches warm", prediction.gpu);
    super::heading(&title, &note, paint)
}

fn row(kernel: &str, predicted: &PredictedLaunch, prediction: &Prediction, recorded_ms: Option<f64>) -> [String; 6] {
    let occupancy = predicted.occupancy.as_ref();
    let (warps, limit) =
        occupancy.map(|o| (format!("{} of {}", o.warps, o.most_warps), o.limit.clone())).unwrap_or_default();
    [
        kernel.to_owned(),
        binds(prediction),
        format!("{} ±{:.0}%", time(prediction.us / 1e3), 100.0 * prediction.band),
        recorded_ms.map(time).unwrap_or_default(),
        warps,
        limit,
    ]
}

/// Returns the unit that is busy most of the time, or that none is.
fn binds(prediction: &Prediction) -> String {
    let Some(busiest) = prediction.bounds.first() else { return String::new() };
    let busy = format!("{} {:.0}%", busiest.unit, 100.0 * prediction.part(busiest));
    if prediction.binds().is_some() { busy } else { format!("waits; {busy}") }
}

/// Returns a grid that leaves multiprocessors without a block.
fn idle(kernel: &str, prediction: &Prediction) -> String {
    let (n_blocks, n_sms) = (prediction.n_blocks, u64::from(prediction.n_sms));
    match n_sms.checked_sub(n_blocks) {
        None | Some(0) => String::new(),
        Some(idle) => {
            format!("  {kernel}: {n_blocks} blocks for {n_sms} multiprocessors: {idle} have nothing to do\n")
        }
    }
}

/// Returns the measured time of the same kernel on the same shape, in milliseconds.
fn recorded(records: &[(String, Record)], kernel: &str, shape: Shape, gpu: &str) -> Option<f64> {
    records.iter().find_map(|(_, record)| {
        let measurement = record.measurement(kernel, shape)?;
        let run = record.run_of(measurement)?;
        match &measurement.outcome {
            Outcome::Passed(passed) if run.device == gpu => passed.hot.as_ref().map(Samples::median),
            _ => None,
        }
    })
}

fn change(now: &PredictedLaunch, before: &PredictedLaunch) -> String {
    let (Some(now), Some(then)) = (&now.prediction, &before.prediction) else {
        let why = before.no_prediction.as_ref().or(now.no_prediction.as_ref());
        return format!(
            "not compared, because there is no prediction{}",
            why.map(|why| format!(": {why}")).unwrap_or_default()
        );
    };
    let band = format!("band ±{:.0}%", 100.0 * now.change_band(then));
    let from = format!("{} before, {} now", time(then.us / 1e3), time(now.us / 1e3));
    match now.since(then) {
        Change::Equal => format!("no difference that the model can tell ({from}; {band})"),
        Change::Less(part) => format!("−{:.0}% predicted ({from}; {band})", 100.0 * part),
        Change::More(part) => format!("+{:.0}% predicted ({from}; {band})", 100.0 * part),
    }
}
