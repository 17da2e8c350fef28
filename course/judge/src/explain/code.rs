//! Machine code of a kernel: exact counts of one launch, and its predicted time on a GPU.

use std::collections::{BTreeMap, HashMap};

use catalog::{Shape, WrongSize};
use reference::inputs::Accumulator;
use simt::{check::Severity, gpu::Value, launch::CheckLevel, occupancy::Footprint};
use tasks::explain::machine_code::{
    Control, Instruction, MachineCodeExplanation, PredictedLaunch, Reason, Slot, Timeline, Unit,
};

use super::pipeline::{is_of_pipeline, pipeline};
use crate::{JudgeError, Request};
use crate::{emulated_module::EmulatedModule, trial::Trial};

/// Launches the machine code once with these sizes, of which a transpose ignores K, and predicts the time of that
/// launch.
pub fn explain(request: &Request<'_>, code: &sass::Module, size: Shape) -> Result<MachineCodeExplanation, JudgeError> {
    let module = EmulatedModule::of_code(request, code)?;
    let entry = &request.task.entry;
    let kernel = code.kernels.iter().find(|kernel| kernel.name == *entry);
    let kernel = kernel.ok_or_else(|| format!("there is no kernel called {entry}"))?;
    let is_transpose = request.task.work.is_transpose();
    if !is_transpose && size.k == 0 {
        return Err(WrongSize::no_depth(size, entry).into());
    }
    let shape = if is_transpose { Shape { k: 0, ..size } } else { size };
    if request.task.work.is_double() {
        explained::<f64>(request, &module, code.architecture, kernel, shape)
    } else {
        explained::<f32>(request, &module, code.architecture, kernel, shape)
    }
}

fn explained<T: Accumulator + Value>(
    request: &Request<'_>, module: &EmulatedModule<'_>, architecture: u32, code: &sass::CubinKernel, shape: Shape,
) -> Result<MachineCodeExplanation, JudgeError> {
    let trial = Trial::<T>::without_answer(request.task.work, shape, request.seed);
    let launched = module.launch(&trial, CheckLevel::Count, &module.launch_setup(shape));
    let (report, _) = launched.map_err(|refused| refused.text)?;
    let own = request.sources.first().map_or("", |(name, _)| name.as_str());
    let instructions = code.instructions.iter().zip(&report.instructions);
    let mut instructions: Vec<Instruction> = instructions
        .map(|(instruction, counted)| {
            let c = &counted.counters;
            let (file, line) = place(code, instruction.address, own).unwrap_or_default();
            Instruction {
                address: instruction.address,
                text: instruction.to_string(),
                control: control(instruction.control),
                unit: unit(timing::Instruction::from(instruction).unit),
                file: file.to_owned(),
                line,
                issued: c.warp_instructions,
                wavefronts: c.wavefronts(),
                excess: c.excess(),
                sectors: c.global_sectors(),
                modelled: 0,
                stalls: BTreeMap::new(),
            }
        })
        .collect();
    let footprint = Footprint {
        threads: module.threads(),
        registers: code.registers,
        shared: u64::from(module.static_shared_bytes()) + u64::from(request.task.dynamic_shared),
    };
    let mut explained = MachineCodeExplanation {
        target: format!("sm_{architecture}"),
        shape,
        grid: report.grid,
        block: report.block,
        registers: code.registers,
        shared_bytes: footprint.shared,
        local_bytes: code.frame_bytes,
        predicted: PredictedLaunch {
            occupancy: Some(from_report(timing::report::occupancy(footprint))),
            ..PredictedLaunch::default()
        },
        clocks: 0.0,
        modelled_blocks: 0,
        instructions: Vec::new(),
        timeline: None,
    };
    let stopped = report.findings.iter().find(|finding| finding.severity == Severity::Error);
    let predicted = match stopped {
        Some(finding) => Err(format!("the launch stopped before its end: {}", finding.title)),
        None => module.predict(&trial, code, recorded_clocks(code)).map_err(|why| why.to_string()),
    };
    match predicted {
        Ok((predicted, window)) => {
            for (instruction, stalls) in instructions.iter_mut().zip(&predicted.stalls) {
                instruction.modelled = stalls.issued;
                let clocks = timing::Reason::ALL.into_iter().zip(stalls.clocks);
                let some = clocks.filter(|(_, clocks)| *clocks > 0);
                instruction.stalls = some.map(|(reason, clocks)| (self::reason(reason), clocks)).collect();
            }
            explained.timeline = timeline(code, &instructions, &window);
            let report = timing::report::prediction(timing::Chip::h200(), &predicted);
            explained.predicted.prediction = Some(from_report(report));
            (explained.clocks, explained.modelled_blocks) = (predicted.clocks, predicted.n_simulated);
        }
        Err(why) => explained.predicted.no_prediction = Some(why),
    }
    explained.instructions = instructions;
    Ok(explained)
}

/// Returns the source line of an instruction: the innermost location in the file `own`, which calls the code inlined
/// from other files; or, where no location is in that file, the innermost one.
fn place<'a>(code: &'a sass::CubinKernel, address: u32, own: &str) -> Option<(&'a str, u32)> {
    let lines = || code.inlined_lines(address).filter(|(_, line)| *line > 0);
    lines().find(|(file, _)| *file == own).or_else(|| lines().next())
}

fn control(control: sass::instruction::Control) -> Control {
    Control {
        stall: control.stall,
        yields: control.yields,
        wait: (0..6).filter(|slot| control.wait >> slot & 1 == 1).collect(),
        write: control.write_barrier,
        read: control.read_barrier,
    }
}

fn unit(unit: timing::Unit) -> Unit {
    use timing::Unit as On;
    match unit {
        On::Fma | On::Double | On::Special => Unit::Float,
        On::IntegerFma | On::Alu | On::Uniform => Unit::Integer,
        On::LoadShared | On::StoreShared => Unit::Shared,
        On::LoadGlobal | On::StoreGlobal | On::Copy | On::BoxCopy => Unit::Global,
        On::Barrier | On::SharedBarrier | On::ClusterArrive | On::ClusterWait | On::Fence => Unit::Barrier,
        On::LoadConstant
        | On::Branch
        | On::CopyGroup
        | On::CopyWait
        | On::Product
        | On::ProductWait
        | On::WarpProduct
        | On::Slow => Unit::Other,
    }
}

fn reason(reason: timing::Reason) -> Reason {
    match reason {
        timing::Reason::Fixed => Reason::Fixed,
        timing::Reason::Global => Reason::Global,
        timing::Reason::Short => Reason::Short,
        timing::Reason::Barrier => Reason::Barrier,
        timing::Reason::Unit => Reason::Unit,
        timing::Reason::NotSelected => Reason::NotSelected,
    }
}

/// Reads a part of a report of `timing`.
fn from_report<T: serde::de::DeserializeOwned>(report: serde_json::Value) -> T {
    serde_json::from_value(report).expect("tasks has the fields of the report")
}

/// Returns the clocks in the middle of a launch that are searched for a loop iteration, or for rounds of a pipeline.
fn recorded_clocks(code: &sass::CubinKernel) -> u64 {
    let mut units = code.instructions.iter().map(|instruction| timing::Instruction::from(instruction).unit);
    if units.any(is_of_pipeline) { 65_536 } else { 16_384 }
}

/// Clocks of a pass that are kept.
const MAX_CLOCKS: u64 = 4096;

/// Returns the median iteration of the busiest loop in the window: issues of all schedulers from one iteration's start
/// to its end.
fn timeline(code: &sass::CubinKernel, instructions: &[Instruction], window: &timing::Timeline) -> Option<Timeline> {
    let std::ops::Range { start: first, end } = window.busiest_loop;
    let last = end.checked_sub(1).filter(|last| *last >= first)?;
    let mut began: HashMap<(u32, u32), u64> = HashMap::new();
    let mut passes: Vec<(u64, u64)> = Vec::new();
    let issues = window.schedulers.iter().flatten();
    for issue in issues.filter(|issue| issue.instruction == first) {
        if let Some(start) = began.insert((issue.block, issue.warp), issue.clock) {
            passes.push((start, issue.clock));
        }
    }
    passes.sort_unstable();
    let &(start, end) = passes.get(passes.len() / 2)?;
    let shown = (end - start).min(MAX_CLOCKS);
    let mut warps: Vec<(u32, u32)> = Vec::new();
    let mut schedulers = Vec::new();
    for issues in &window.schedulers {
        let mut slots: Vec<Slot> = Vec::new();
        for issue in issues.iter().filter(|issue| issue.clock >= start) {
            let which = (issue.block, issue.warp);
            let warp = warps.iter().position(|known| *known == which).unwrap_or_else(|| {
                warps.push(which);
                warps.len() - 1
            });
            let clock = (issue.clock - start) as u32;
            let next = slots.last().map_or(0, |slot| slot.clock + 1);
            slots.push(Slot {
                clock,
                warp: warp as u32,
                instruction: issue.instruction,
                // An idle clock is not explained by the issue of another warp.
                waited: (clock > next).then(|| match reason(issue.waited) {
                    Reason::NotSelected => Reason::Unit,
                    other => other,
                }),
            });
            if u64::from(clock) >= shown {
                break;
            }
        }
        schedulers.push(slots);
    }
    let address = |at: u32| instructions.get(at as usize).map_or(0, |instruction| instruction.address);
    Some(Timeline {
        first: address(first),
        last: address(last),
        clocks: shown as u32,
        pass: u32::try_from(end - start).unwrap_or(u32::MAX),
        warps: warps.len() as u32,
        schedulers,
        pipeline: pipeline(code, window, &passes),
    })
}
