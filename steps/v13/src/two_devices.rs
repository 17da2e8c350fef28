//! `two`: one product on one device and on two of the same host, and the links between the three.

use std::fmt::Write as _;

use clap::ValueEnum;
use cudarc::driver::{CudaContext, CudaGraph, DevicePtr as _, DriverError, result, sys};
use harness::{Gpu, Shape, StepError, out};
use records::Samples;
use records::process::{Bound, Event};
use records::two_devices::{PairBound, Way as Measured};
use serde_json::{Value, json};
use v13::host::{Array, Arrays, Kind};
use v13::nccl::{self, Nccl};
use v13::pair::{self, Link, Pair};
use v13::process::{Device, Process};
use v13::schedule::{self, Queue, Schedule, Spread};

use crate::clock::Clock;
use crate::compare::{busy, measure_bound, median_busy, memory_of};
use crate::{Common, bytes, could_not, name, of_median, span};

/// Options of `two`.
#[derive(Debug, clap::Args)]
pub(crate) struct Two {
    #[command(flatten)]
    common: Common,
    /// Parts of the rows of a device
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    chunks: u32,
    /// Ways to compute the product [default: all]
    #[arg(long, value_delimiter = ',')]
    variant: Vec<Way>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// One device: panels, or chunks where copies take longest
    One,
    /// One device: the same operations as a graph
    Graph,
    /// Two devices, each with half of A and the whole of B from the host
    Sent,
    /// B to the first device, and to the second by NCCL
    Broadcast,
    /// Half of B to each device, and to the other by NCCL
    Gathered,
    /// Half of B to each device, which the other fetches with copies
    Copied,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Graph => "one, graph",
            Self::Sent => "two, sent",
            Self::Broadcast => "two, broadcast",
            Self::Gathered => "two, gathered",
            Self::Copied => "two, copied",
        }
    }

    fn spread(self) -> Option<Spread> {
        match self {
            Self::One | Self::Graph => None,
            Self::Sent => Some(Spread::Sent),
            Self::Broadcast => Some(Spread::Broadcast),
            Self::Gathered | Self::Copied => Some(Spread::Gathered),
        }
    }
}

#[derive(serde::Serialize)]
struct Size {
    shape: Shape,
    bound: Option<Bound>,
    pair_bound: Option<PairBound>,
    ways: Vec<Measured>,
    /// Ways that were not run, each with the reason.
    not_run: Vec<Value>,
}

pub(crate) fn main(task: &Two) -> Result<bool, StepError> {
    task.common.check_json()?;
    let gpu = Gpu::find()?;
    let first = Device::new(&gpu.context)?;
    let devices = CudaContext::device_count()?;
    let second = match devices {
        2.. => Some(Device::new(&CudaContext::new(1)?)?),
        _ => None,
    };
    let peers = match &second {
        Some(second) => pair::connect([&first.context, &second.context])?,
        None => false,
    };
    let nccl = second.as_ref().map(|second| open_nccl([&first, second]));
    let mut text = format!("{}, devices: {devices}", gpu.info.name);
    let version = match &nccl {
        Some(Ok(_)) => Nccl::version().ok(),
        _ => None,
    };
    if second.is_some() {
        let reach = if peers { "reach" } else { "do not reach" };
        let _ = write!(text, "; they {reach} each other's memory");
    }
    if let Some(version) = &version {
        let _ = write!(text, "; NCCL {version}");
    }
    text.push('\n');
    if gpu.emulator.is_some() {
        text.push_str("Emulated: products are computed and verified, but nothing is timed.\n");
    }
    out::write(&text)?;
    let mut clock = Clock::new(&gpu, task.common.repeat);
    let mut sizes = Vec::new();
    let mut right = true;
    for shape in task.common.sizes(&gpu)? {
        out::write(&format!("\n{}\n", shape.short()))?;
        if let Some(second) = &second {
            let nccl = nccl.as_ref().and_then(|nccl| nccl.as_ref().ok());
            links(&mut clock, [&first, second], nccl, shape)?;
        }
        let mut all = Comparison {
            gpu: &gpu,
            devices: [Some(&first), second.as_ref()],
            nccl: nccl.as_ref().map(|nccl| nccl.as_ref().map_err(String::as_str)),
            task,
            right: true,
            size: Size { shape, bound: None, pair_bound: None, ways: Vec::new(), not_run: Vec::new() },
        };
        all.run(shape, &first)?;
        right &= all.right;
        sizes.push(all.size);
    }
    task.common.write_json(&json!({
        "run": harness::run::describe("v13", &gpu),
        "devices": devices,
        // Whether each device reaches the memory of the other.
        "peers": peers,
        "nccl": version,
        "chunks": task.chunks,
        "links": clock.entries,
        "sizes": sizes,
    }))?;
    Ok(right)
}

/// Opens communicators, or returns why there are none.
fn open_nccl(devices: [&Device; 2]) -> Result<Nccl, String> {
    nccl::find().and_then(|()| Nccl::new(devices)).map_err(|error| error.to_string())
}

/// Times A from and to the host over each device's link, over both at once, and from one device to the other.
fn links(
    clock: &mut Clock,
    devices: [&Device; 2],
    nccl: Option<&Nccl>,
    shape: Shape,
) -> Result<(), StepError> {
    let n = shape.m * shape.k / 2 * 2;
    let size = n * size_of::<f32>();
    let mut host = Vec::new();
    let mut memory = Vec::new();
    for device in devices {
        let mut arrays = [0, 1].map(|_| Array::new(&device.context, Kind::Pinned, n));
        for array in arrays.iter_mut().flatten() {
            array.get_mut()?.fill(1.0);
        }
        let [source, target] = arrays;
        host.push((source?, target?));
        let stream = device.stream(Queue::In);
        memory.push([stream.alloc_zeros::<f32>(n)?, stream.alloc_zeros::<f32>(n)?]);
        device.synchronize()?;
    }
    let place = |rank: usize, i: usize| memory[rank][i].device_ptr(devices[rank].stream(Queue::In)).0;
    let mut pointers = Vec::new();
    for (source, target) in &mut host {
        pointers.push((source.get()?.as_ptr(), target.get_mut()?.as_mut_ptr()));
    }
    let to = |rank: usize| -> Result<(), DriverError> {
        devices[rank].context.bind_to_thread()?;
        let stream = devices[rank].stream(Queue::In).cu_stream();
        // SAFETY: the place has the size of the array, and all is done before `time` returns.
        unsafe { sys::cuMemcpyHtoDAsync_v2(place(rank, 0), pointers[rank].0.cast(), size, stream) }.result()
    };
    let from = |rank: usize| -> Result<(), DriverError> {
        devices[rank].context.bind_to_thread()?;
        let stream = devices[rank].stream(Queue::Out).cu_stream();
        // SAFETY: the same.
        unsafe { sys::cuMemcpyDtoHAsync_v2(pointers[rank].1.cast(), place(rank, 1), size, stream) }.result()
    };
    let peer = |target: usize| {
        let source = 1 - target;
        let places = [place(target, 1), place(source, 0)];
        // SAFETY: the same.
        unsafe { pair::copy_between([devices[target], devices[source]], places, size) }
    };
    let mut time = |what: &str, n_copies: usize, run: &dyn Fn() -> Result<(), StepError>| {
        let whole = || {
            let done = run();
            for device in devices {
                device.synchronize()?;
            }
            done
        };
        // The first exchange takes longer than the link: NCCL connects, and pages are mapped.
        whole()?;
        clock.time(what, n_copies * size, whole)
    };
    time("to device 0", 1, &|| Ok(to(0)?))?;
    time("to device 1", 1, &|| Ok(to(1)?))?;
    time("to both at once", 2, &|| Ok(to(0).and(to(1))?))?;
    time("from device 0", 1, &|| Ok(from(0)?))?;
    time("from device 1", 1, &|| Ok(from(1)?))?;
    time("from both at once", 2, &|| Ok(from(0).and(from(1))?))?;
    time("to and from both at once", 4, &|| Ok(to(0).and(to(1)).and(from(0)).and(from(1))?))?;
    time("from device 0 to device 1", 1, &|| Ok(peer(1)?))?;
    time("from device 1 to device 0", 1, &|| Ok(peer(0)?))?;
    time("from each to the other at once", 2, &|| Ok(peer(0).and(peer(1))?))?;
    if let Some(nccl) = nccl {
        let places = [place(0, 0), place(1, 0)];
        time("NCCL, broadcast from device 0", 1, &|| {
            // SAFETY: both places have `n` elements, and all is done before `time` returns.
            unsafe { nccl.broadcast(places, n, peer_streams(devices)) }
        })?;
        time("NCCL, a half of each to the other", 1, &|| {
            // SAFETY: the same.
            unsafe { nccl.gather(places, n / 2, peer_streams(devices)) }
        })?;
    }
    Ok(())
}

fn peer_streams(devices: [&Device; 2]) -> [sys::CUstream; 2] {
    devices.map(|device| device.stream(Queue::Peer).cu_stream())
}

struct Comparison<'a> {
    gpu: &'a Gpu,
    devices: [Option<&'a Device>; 2],
    nccl: Option<Result<&'a Nccl, &'a str>>,
    task: &'a Two,
    right: bool,
    size: Size,
}

enum Ready<'d> {
    One(Box<Process<'d>>),
    Graph(Box<Process<'d>>, CudaGraph),
    Two(Box<Pair<'d>>),
}

impl Ready<'_> {
    fn run(&mut self, arrays: &mut Arrays) -> Result<f64, StepError> {
        match self {
            Self::One(process) => process.run(arrays),
            Self::Graph(process, graph) => process.replay(graph),
            Self::Two(pair) => pair.run(arrays),
        }
    }

    fn events(&self) -> Result<Vec<Vec<Event>>, StepError> {
        match self {
            Self::One(process) => Ok(vec![process.events()?]),
            Self::Graph(..) => Ok(Vec::new()),
            Self::Two(pair) => Ok(pair.events()?.into()),
        }
    }
}

impl<'a> Comparison<'a> {
    fn run(&mut self, shape: Shape, first: &'a Device) -> Result<(), StepError> {
        let (free, _) = result::mem_get_info()?;
        let whole = memory_of(&schedule::whole(shape));
        if whole > free {
            let (shape, needed, there) = (shape.short(), bytes(whole), bytes(free));
            return Err(could_not(format!("{shape} take {needed} of device memory, and {there} are free")));
        }
        let mut arrays = Arrays::new(&first.context, Kind::Pinned, shape)?;
        if self.gpu.emulator.is_none() {
            let repeat = self.task.common.repeat;
            self.size.bound = Some(measure_bound(first, shape, &mut arrays, repeat)?);
            self.size.pair_bound = self.pair_bound(shape, &mut arrays)?;
            out::write(&self.bounds())?;
        }
        let ways = match self.task.variant.as_slice() {
            [] => Way::value_variants().to_vec(),
            asked => asked.to_vec(),
        };
        let mut ready = Vec::new();
        let mut of_first: Option<Vec<f32>> = None;
        for way in ways {
            let (mut one, measured) = match self.prepare(way, shape, first, &mut arrays)? {
                Ok(ready) => ready,
                Err(why) => {
                    out::write(&format!("{:<15} not run: {why}\n", way.name()))?;
                    self.size.not_run.push(json!({ "way": way, "why": why }));
                    continue;
                }
            };
            arrays.poison_output()?;
            one.run(&mut arrays)?;
            let c = arrays.c.get()?;
            let same = match &of_first {
                None => arrays.wrong_row(shape)?.is_none(),
                Some(first) => first.iter().zip(c).all(|(x, y)| x.to_bits() == y.to_bits()),
            };
            self.right &= same;
            if same {
                of_first.get_or_insert_with(|| c.to_vec());
                ready.push((way, one, measured, Vec::new()));
            } else {
                let why = if of_first.is_none() { "C is not the product" } else { "C has other bits" };
                out::write(&format!("{:<15} WRONG: {why}\n", way.name()))?;
            }
        }
        for _ in 0..self.task.common.timed(self.gpu) {
            for (_, one, measured, events) in &mut ready {
                measured.total_ms.0.push(one.run(&mut arrays)?);
                events.push(one.events()?);
            }
        }
        let fastest_of_one = ready
            .iter()
            .filter(|(_, _, measured, _)| !measured.on_two())
            .map(|(_, _, measured, _)| measured.total_ms.median())
            .fold(f64::INFINITY, f64::min);
        for (way, _, mut measured, events) in ready {
            measured.events = of_median(&measured.total_ms, events);
            out::write(&line(way, &measured, fastest_of_one))?;
            self.size.ways.push(measured);
        }
        Ok(())
    }

    /// Chunks where copies take longest, else panels.
    fn schedule(&self, shape: Shape) -> Schedule {
        let n = self.task.chunks as usize;
        if self.size.bound.is_some_and(Bound::copies_take_longest) {
            schedule::chunks(shape, n)
        } else {
            schedule::panels(shape, n)
        }
    }

    fn prepare(
        &self,
        way: Way,
        shape: Shape,
        first: &'a Device,
        arrays: &mut Arrays,
    ) -> Result<Result<(Ready<'a>, Measured), String>, StepError> {
        let measured = |schedules: &[Schedule]| Measured {
            way: name(way),
            device_bytes: schedules.iter().map(memory_of).collect(),
            operations: schedules.iter().map(|schedule| schedule.ops.len()).collect(),
            total_ms: Samples(Vec::new()),
            events: Vec::new(),
        };
        let Some(spread) = way.spread() else {
            let schedule = self.schedule(shape);
            let measured = measured(std::slice::from_ref(&schedule));
            let mut process = first.prepare(schedule)?;
            if way == Way::One {
                return Ok(Ok((Ready::One(Box::new(process)), measured)));
            }
            // The first product takes longer than others.
            process.run(arrays)?;
            let graph = process.capture(arrays)?;
            return Ok(Ok((Ready::Graph(Box::new(process), graph), measured)));
        };
        let [Some(first), Some(second)] = self.devices else {
            return Ok(Err("needs two devices, and this machine has one".into()));
        };
        let link = match (matches!(way, Way::Broadcast | Way::Gathered), self.nccl) {
            (false, _) => Link::Copies,
            (true, Some(Ok(nccl))) => Link::Nccl(nccl),
            (true, Some(Err(why))) => return Ok(Err(why.to_owned())),
            (true, None) => return Ok(Err("NCCL is not open".into())),
        };
        let Some(schedules) = schedule::split(shape, spread, |shape| self.schedule(shape)) else {
            return Ok(Err("a product with one row cannot be split by rows".into()));
        };
        let measured = measured(&schedules);
        let pair = Pair::new([first, second], schedules, link)?;
        Ok(Ok((Ready::Two(Box::new(pair)), measured)))
    }

    fn pair_bound(&self, shape: Shape, arrays: &mut Arrays) -> Result<Option<PairBound>, StepError> {
        let [Some(first), Some(second)] = self.devices else { return Ok(None) };
        let Some(schedules) = schedule::split(shape, Spread::Gathered, schedule::whole) else {
            return Ok(None);
        };
        let (link, name) = match self.nccl {
            Some(Ok(nccl)) => (Link::Nccl(nccl), "nccl"),
            _ => (Link::Copies, "copies"),
        };
        let mut pair = Pair::new([first, second], schedules, link)?;
        let times = median_busy(self.task.common.repeat, || {
            pair.run(arrays)?;
            let [one, other] = pair.events()?.map(|events| busy(&events));
            Ok(std::array::from_fn(|queue| one[queue].max(other[queue])))
        })?;
        Ok(Some(PairBound {
            link: name.to_owned(),
            copy_in_ms: times[Queue::In as usize],
            exchange_ms: times[Queue::Peer as usize],
            kernel_ms: times[Queue::Kernel as usize],
            copy_out_ms: times[Queue::Out as usize],
        }))
    }

    fn bounds(&self) -> String {
        let mut text = String::new();
        if let Some(bound) = &self.size.bound {
            let _ = writeln!(
                text,
                "one device, each alone: copy in {:.3} ms, product {:.3} ms, copy out {:.3} ms",
                bound.copy_in_ms, bound.kernel_ms, bound.copy_out_ms
            );
        }
        if let Some(bound) = &self.size.pair_bound {
            let _ = writeln!(
                text,
                "two devices, each alone: copy in {:.3} ms, exchange ({}) {:.3} ms, product {:.3} ms, copy out {:.3} ms",
                bound.copy_in_ms, bound.link, bound.exchange_ms, bound.kernel_ms, bound.copy_out_ms
            );
        }
        text + "way             total (least … most) ms          speed-up over one  operations\n"
    }
}

fn line(way: Way, measured: &Measured, of_one: f64) -> String {
    let name = way.name();
    let operations: usize = measured.operations.iter().sum();
    let Some((total, span)) = span(&measured.total_ms) else {
        return format!("{name:<15} right, {operations} operations\n");
    };
    let speed_up = if of_one.is_finite() { format!("{:.2}", of_one / total) } else { "-".into() };
    format!("{name:<15} {span:<32} {speed_up:>17} {operations:>11}\n")
}
