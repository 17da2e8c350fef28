//! Takes the time of plans on a GPU, beside those in use.

use std::collections::BTreeMap;

use cudarc::nvrtc::Ptx;
use harness::{Gpu, Shape, StepError};
use serde::Serialize;
use serde_json::json;
use v11::costs::{CostInput, expected, terms};
use v11::forecast;
use v11::gemm::{Choice, Costs, Sgemm};
use v11::plans::{PLANS, Sharing};
use v11::space;

use super::{CLASSES, bytes, find, packed, read, text};
use crate::tune::{self, Operands, could_not};

#[derive(Serialize)]
struct Timed {
    plan: String,
    sharing: String,
    us: f64,
}

#[derive(Serialize)]
struct Class {
    shape: [usize; 3],
    in_use: Timed,
    found: Timed,
    /// Spearman's rank correlation of the predicted times of the others with these.
    rank_correlation: f64,
}

/// Times plans on the product of each class, beside those in use, where there is a GPU, and writes all times to a file.
pub(super) fn time(list: &str, predicted: &str, all: &str) -> Result<(), StepError> {
    let gpu = Gpu::find()?;
    if gpu.emulator.is_some() {
        eprintln!(
            "No GPU here: nothing was timed, and the plans in use stay those that were timed on an {}.",
            Costs::committed().device
        );
        return Ok(());
    }
    let forecasts = forecast::read(&text(predicted)?);
    let timed = Costs::committed();
    let mut sgemm = Sgemm::load(&gpu.stream)?;
    let mut cubins = BTreeMap::new();
    let mut added = Vec::new();
    for (name, cubin) in read(list)? {
        let plan = find(&name)?;
        let bytes = bytes(&cubin)?;
        cubins.insert(name.clone(), catalog::provenance::sha256(&bytes));
        let module = gpu.context.load_module(Ptx::from_binary(bytes))?;
        added.push((name, plan, sgemm.add(plan, &module)?));
    }
    let shapes = CLASSES.map(|[m, n, k]| Shape { m, n, k });
    let mut operands = Operands::new(&gpu, &shapes)?;
    let mut classes = Vec::new();
    let mut times = String::from("plan\tsharing\tshape\tpredicted\tus\n");
    eprintln!("{:<16}{:<44}{:>9}  {:<44}{:>9}", "product", "fastest", "us", "of those in use", "us");
    for (shape, sizes) in shapes.into_iter().zip(CLASSES) {
        let mut right = None;
        // `None` where C is wrong.
        let mut clock = |name: &str, choice: &Choice| -> Result<Option<Timed>, StepError> {
            tune::multiply(&mut operands, &sgemm, shape, choice)?;
            if !operands.is_right(&gpu, shape, &mut right)? {
                eprintln!("{shape}: {name} is wrong");
                return Ok(None);
            }
            let us = tune::time(&gpu, &sgemm, &mut operands, shape, choice)?;
            let (sharing, predicted) = (format!("{:?}", choice.sharing), choice.expected);
            times += &format!("{name}\t{sharing}\t{shape}\t{predicted:.3}\t{us:.3}\n");
            Ok(Some(Timed { plan: name.to_owned(), sharing, us }))
        };
        let mut in_use = Vec::new();
        for choice in tune::choices(&sgemm, shape) {
            in_use.extend(clock(&space::name(&PLANS[choice.plan]), &choice)?);
        }
        let (mut others, mut pairs) = (Vec::new(), Vec::new());
        for (name, plan, number) in &added {
            let (Some(packed), Some(forecast)) = (packed(plan, sizes), forecasts.get(name)) else { continue };
            let constants = forecast.constants(plan, &timed);
            for sharing in Sharing::ALL {
                let work = CostInput { shape: sizes, sharing, packed };
                let Some(terms) = terms(plan, &work, sgemm.n_sms) else { continue };
                let choice =
                    Choice { plan: *number, sharing, packed, expected: expected(&constants, &terms) };
                if let Some(timed) = clock(name, &choice)? {
                    pairs.push((choice.expected, timed.us));
                    others.push(timed);
                }
            }
        }
        let fastest = |of: Vec<Timed>| of.into_iter().min_by(|a, b| a.us.total_cmp(&b.us));
        let (Some(in_use), Some(found)) = (fastest(in_use), fastest(others)) else { continue };
        let cells = |timed: &Timed| format!("{:<44}{:>9.2}", timed.plan, timed.us);
        eprintln!("{:<16}{}  {}", shape.to_string(), cells(&found), cells(&in_use));
        let rank_correlation = forecast::rank_correlation(&pairs).unwrap_or(0.0);
        classes.push(Class { shape: sizes, in_use, found, rank_correlation });
    }
    std::fs::write(all, times).map_err(|error| could_not(format!("{all}: {error}")))?;
    let found = json!({
        "device": gpu.info.name,
        "driver": gpu.info.driver,
        "date": catalog::time::utc(catalog::time::now()),
        "cubins": cubins,
        "classes": classes,
    });
    harness::out::write(&format!("{found:#}\n"))
}
