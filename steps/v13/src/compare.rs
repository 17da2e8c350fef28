//! `run`: one product in several ways.

use std::fmt::Write as _;

use clap::ValueEnum;
use cudarc::driver::result;
use harness::{Gpu, Shape, StepError, out};
use records::Samples;
use records::process::{Bound, Event, Variant as Measured, busy_ms};
use serde_json::json;
use v13::host::{Arrays, Kind};
use v13::process::Device;
use v13::schedule::{self, QUEUES, Queue, Schedule};

use crate::{Common, bytes, could_not, name, of_median, span};

/// Options of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    common: Common,
    /// Ways to compute the product [default: all; tiles with --memory, or where the matrices do not fit]
    #[arg(long, value_delimiter = ',')]
    variant: Vec<Variant>,
    /// Parts of the matrices in chunks, shells and panels
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    chunks: u32,
    /// Device memory that tiles may use, such as 200M or 2G
    #[arg(long, value_parser = memory)]
    memory: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Variant {
    /// Arrays as any program has them; copies in, product, copy out
    Pageable,
    /// Pinned arrays; copies in, product, copy out
    Pinned,
    /// B, then rows of A; rows of C leave while others are computed
    Chunks,
    /// Rows of A and columns of B alternately
    Shells,
    /// First parts of the depth, then rows
    Panels,
    /// The whole as one graph: of chunks where copies take longest, else of panels
    Graph,
    /// With a limit of device memory
    Tiles,
}

impl Variant {
    fn arrays(self) -> Kind {
        match self {
            Self::Pageable => Kind::Pageable,
            _ => Kind::Pinned,
        }
    }
}

fn memory(text: &str) -> Result<usize, String> {
    let wrong = || format!("`{text}` is no amount of memory; they look like 500000000, 200M or 2G");
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let number: usize = number.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|n| *n > 0).ok_or_else(wrong)
}

/// Measures each part alone: one after the other, with pinned arrays.
pub(crate) fn measure_bound(
    device: &Device,
    shape: Shape,
    arrays: &mut Arrays,
    repeat: u32,
) -> Result<Bound, StepError> {
    let mut process = device.prepare(schedule::whole(shape))?;
    let times = median_busy(repeat, || {
        process.run(arrays)?;
        Ok(busy(&process.events()?))
    })?;
    Ok(Bound {
        copy_in_ms: times[Queue::In as usize],
        kernel_ms: times[Queue::Kernel as usize],
        copy_out_ms: times[Queue::Out as usize],
    })
}

/// Returns the median of what `run` returns for each queue, without its first run, which takes longer.
pub(crate) fn median_busy(
    repeat: u32,
    mut run: impl FnMut() -> Result<[f64; QUEUES], StepError>,
) -> Result<[f64; QUEUES], StepError> {
    run()?;
    let runs = (0..repeat).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    Ok(std::array::from_fn(|queue| Samples(runs.iter().map(|run| run[queue]).collect()).median()))
}

/// Returns the time in which each queue is busy.
pub(crate) fn busy(events: &[Event]) -> [f64; QUEUES] {
    [Queue::In, Queue::Kernel, Queue::Out, Queue::Peer].map(|queue| busy_ms(events, queue))
}

struct Repeated {
    total_ms: Samples,
    calls_ms: Samples,
    events: Vec<Vec<Event>>,
}

#[derive(serde::Serialize)]
struct Size {
    shape: Shape,
    bound: Option<Bound>,
    variants: Vec<Measured>,
}

/// Runs the command `run`; returns whether all products are right.
pub(crate) fn main(task: &Run) -> Result<bool, StepError> {
    task.common.check_json()?;
    let gpu = Gpu::find()?;
    let device = Device::new(&gpu.context)?;
    let (mut right, mut sizes) = (true, Vec::new());
    out::write(&format!("{}\n", gpu.info.name))?;
    if gpu.emulator.is_some() {
        out::write("Emulated: products are computed and verified, but nothing is timed.\n")?;
    }
    for shape in task.common.sizes(&gpu)? {
        let size = Size { shape, bound: None, variants: Vec::new() };
        let mut all = Comparison { gpu: &gpu, device: &device, task, right: true, size };
        all.run()?;
        right &= all.right;
        sizes.push(all.size);
    }
    let run = harness::run::describe("v13", &gpu);
    task.common.write_json(&json!({ "run": run, "chunks": task.chunks, "sizes": sizes }))?;
    Ok(right)
}

struct Comparison<'a> {
    gpu: &'a Gpu,
    device: &'a Device,
    task: &'a Run,
    right: bool,
    size: Size,
}

pub(crate) fn memory_of(schedule: &Schedule) -> usize {
    schedule.elements.iter().sum::<usize>() * size_of::<f32>()
}

impl Comparison<'_> {
    fn run(&mut self) -> Result<(), StepError> {
        let (free, _) = result::mem_get_info()?;
        let whole = memory_of(&schedule::whole(self.size.shape));
        let fits = whole <= free;
        let variants: Vec<_> = match self.task.variant.as_slice() {
            [] => Variant::value_variants()
                .iter()
                .copied()
                .filter(|variant| match variant {
                    Variant::Tiles => self.task.memory.is_some() || !fits,
                    _ => fits,
                })
                .collect(),
            asked => asked.to_vec(),
        };
        let (needed, there) = (bytes(whole), bytes(free));
        let mut text = format!("\n{}: {needed} of matrices\n", self.size.shape.short());
        if !fits {
            let lacks = "the matrices do not fit, tiles of them do";
            let _ = writeln!(text, "{there} of device memory are free: {lacks}");
            if let Some(variant) = variants.iter().find(|variant| **variant != Variant::Tiles) {
                let name = name(*variant);
                return Err(could_not(format!(
                    "{name} needs {needed} of device memory, and {there} are free; --variant tiles does with less"
                )));
            }
        }
        out::write(&text)?;
        let limit = self.task.memory.unwrap_or(free / 10 * 9);
        for kind in [Kind::Pinned, Kind::Pageable] {
            let of_kind = |variant: &&Variant| variant.arrays() == kind;
            let variants: Vec<_> = variants.iter().filter(of_kind).collect();
            let bounds = kind == Kind::Pinned && fits && self.gpu.emulator.is_none();
            if variants.is_empty() && !bounds {
                continue;
            }
            let mut arrays = Arrays::new(&self.device.context, kind, self.size.shape).map_err(|error| {
                could_not(format!("{needed} of host memory: {}", harness::describe(error)))
            })?;
            if bounds {
                self.measure_bound(&mut arrays)?;
            }
            for variant in variants {
                self.variant(*variant, &mut arrays, limit)?;
            }
        }
        Ok(())
    }

    fn measure_bound(&mut self, arrays: &mut Arrays) -> Result<(), StepError> {
        let bound = measure_bound(self.device, self.size.shape, arrays, self.task.common.repeat)?;
        let (longest, name) = bound.longest();
        self.size.bound = Some(bound);
        out::write(&format!(
            "each alone, pinned: copy in {:.3} ms, product {:.3} ms, copy out {:.3} ms: \
             the longest {longest:.3} ms ({name}), all {:.3} ms\n\
             empty: the same operations with nothing to do; above: what is left over 110 % of the longest, without empty\n\
             variant   total (least … most) ms          of longest  of all  empty ms  above ms  operations  device memory\n",
            bound.copy_in_ms,
            bound.kernel_ms,
            bound.copy_out_ms,
            bound.sum()
        ))
    }

    fn schedule(&self, variant: Variant, limit: usize) -> Result<Schedule, StepError> {
        let (shape, n) = (self.size.shape, self.task.chunks as usize);
        let copies_take_longest = self.size.bound.is_some_and(Bound::copies_take_longest);
        Ok(match variant {
            Variant::Pageable | Variant::Pinned => schedule::whole(shape),
            Variant::Shells => schedule::shells(shape, n),
            Variant::Graph if copies_take_longest => schedule::chunks(shape, n),
            Variant::Chunks => schedule::chunks(shape, n),
            Variant::Panels | Variant::Graph => schedule::panels(shape, n),
            Variant::Tiles => schedule::tiles(shape, limit)
                .map_err(|error| StepError::Usage(format!("--memory: {error}")))?,
        })
    }

    fn variant(&mut self, variant: Variant, arrays: &mut Arrays, limit: usize) -> Result<(), StepError> {
        let name = name(variant);
        let schedule = self.schedule(variant, limit)?;
        let (device_bytes, operations) = (memory_of(&schedule), schedule.ops.len());
        let empty_ms = match self.gpu.emulator {
            Some(_) => Samples(Vec::new()),
            None => self.repeat(schedule.emptied(), variant, arrays)?.total_ms,
        };
        let Repeated { total_ms, calls_ms, events } = self.repeat(schedule, variant, arrays)?;
        let wrong = arrays.wrong_row(self.size.shape)?;
        self.right &= wrong.is_none();
        out::write(&self.line(&name, [&total_ms, &empty_ms], operations, device_bytes, wrong))?;
        let events = of_median(&total_ms, events);
        let some = |times: Samples| (!times.0.is_empty()).then_some(times);
        self.size.variants.push(Measured {
            variant: name,
            device_bytes,
            operations,
            total_ms,
            calls_ms: some(calls_ms),
            empty_ms: some(empty_ms),
            events,
        });
        Ok(())
    }

    /// Runs a schedule once, and on a GPU `--repeat` times.
    fn repeat(
        &self,
        schedule: Schedule,
        variant: Variant,
        arrays: &mut Arrays,
    ) -> Result<Repeated, StepError> {
        let mut process = self.device.prepare(schedule)?;
        let (mut total_ms, mut calls_ms, mut events) = (Vec::new(), Vec::new(), Vec::new());
        arrays.poison_output()?;
        // The first product takes longer than others.
        process.run(arrays)?;
        let mut graph = None;
        if variant == Variant::Graph {
            arrays.poison_output()?;
            let captured = process.capture(arrays)?;
            process.replay(graph.insert(captured))?;
        }
        for _ in 0..self.task.common.timed(self.gpu) {
            match &graph {
                Some(graph) => total_ms.push(process.replay(graph)?),
                None => {
                    total_ms.push(process.run(arrays)?);
                    calls_ms.push(process.calls_ms);
                    events.push(process.events()?);
                }
            }
        }
        Ok(Repeated { total_ms: Samples(total_ms), calls_ms: Samples(calls_ms), events })
    }

    fn line(
        &self,
        name: &str,
        [totals, empty]: [&Samples; 2],
        operations: usize,
        memory: usize,
        wrong: Option<usize>,
    ) -> String {
        let memory = bytes(memory);
        if let Some(row) = wrong {
            return format!("{name:<9} WRONG: row {row} of C is no row of the product\n");
        }
        let Some((total, span)) = span(totals) else {
            return format!("{name:<9} right, {operations} operations, {memory} of device memory\n");
        };
        let of = |time: fn(Bound) -> f64| {
            let part = self.size.bound.map(|bound| format!("{:.0} %", 100.0 * total / time(bound)));
            part.unwrap_or_else(|| "-".into())
        };
        let empty = empty.median();
        let above = self
            .size
            .bound
            .map_or_else(|| "-".into(), |bound| format!("{:.3}", total - 1.1 * bound.longest().0 - empty));
        format!(
            "{name:<9} {span:<32} {:>10} {:>7} {empty:>9.3} {above:>9} {operations:>11}  {memory}\n",
            of(|bound| bound.longest().0),
            of(Bound::sum)
        )
    }
}
