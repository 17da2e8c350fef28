//! Timelines of v13 at 8192 on one and on two devices: copies and kernels, by events that a GPU recorded.

use anyhow::Context as _;
use catalog::Shape;
use records::Run;
use records::process::{Comparison, Event, ProcessRecord, Queue, Size};
use records::two_devices::TwoRecord;

use crate::lanes::{Bar, Lanes};
use crate::machine;
use crate::svg::{Anchor, Drawing, WIDTH};

/// A row: its queue, its label, its class.
type QueueRow = (Queue, &'static str, &'static str);
const IN: QueueRow = (Queue::In, "copy in", "a");
const PEER: QueueRow = (Queue::Peer, "exchange", "b");
const KERNEL: QueueRow = (Queue::Kernel, "product", "c");
const OUT: QueueRow = (Queue::Out, "copy out", "d");
const WAYS: [&str; 4] = ["pinned", "chunks", "shells", "panels"];
const SIZE: usize = 8192;
/// Milliseconds between two grid lines.
const STEP: f64 = 5.0;

/// Ways on two devices, with their labels; the events of the second device are drawn.
const TWO_WAYS: [(&str, &str); 4] = [
    ("sent", "sent to both"),
    ("broadcast", "broadcast by NCCL"),
    ("gathered", "gathered by NCCL"),
    ("copied", "gathered by copies"),
];

fn read<T: serde::de::DeserializeOwned>(name: &str) -> anyhow::Result<T> {
    let path = format!("book/data/{name}");
    serde_json::from_str(&machine::read(&path)?).context(path)
}

fn size_of(all: &Comparison) -> Option<&Size> {
    all.sizes.iter().find(|size| size.shape == Shape::square(SIZE))
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let record: ProcessRecord = read("h200-process.json")?;
    // The first comparison that has the size; later ones repeat it with other numbers of parts.
    let first = record.comparisons.iter().find(|all| size_of(all).is_some());
    let first = first.with_context(|| format!("no product of {SIZE} was measured"))?;
    let run = first.run.as_ref().unwrap_or(&record.run);
    let ways: Vec<_> = size_of(first).into_iter().flat_map(|size| &size.variants).collect();
    let ways = WAYS
        .iter()
        .map(|name| {
            let found = ways.iter().find(|way| way.variant == *name && !way.events.is_empty());
            let events = &found.with_context(|| format!("{name} has no events"))?.events;
            Ok((*name, events.as_slice()))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(time_lines("From the host and back, at 8192", &ways, &[IN, KERNEL, OUT], run))
}

pub(crate) fn draw_two() -> anyhow::Result<String> {
    let record: TwoRecord = read("h200-two.json")?;
    let size = record.sizes.iter().find(|size| size.shape == Shape::square(SIZE));
    let size = size.with_context(|| format!("no product of {SIZE} was measured on two devices"))?;
    let ways = TWO_WAYS
        .iter()
        .map(|(way, name)| {
            let found = size.ways.iter().find(|one| one.way == *way);
            let events = found.and_then(|way| way.events.get(1));
            let events = events.with_context(|| format!("{way} has no events of a second device"))?;
            Ok((*name, events.as_slice()))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let title = "The second of two devices, at 8192";
    Ok(time_lines(title, &ways, &[IN, PEER, KERNEL, OUT], &record.run))
}

/// Draws a row for each queue of each way.
fn time_lines(title: &str, ways: &[(&str, &[Event])], rows: &[QueueRow], run: &Run) -> String {
    const LEFT: f64 = 72.0;
    const HALF_A_LABEL: f64 = 20.0;
    let end = |events: &[Event]| events.iter().map(|event| event.end_ms).fold(0.0, f64::max);
    let last = ways.iter().map(|(_, events)| end(events)).fold(0.0, f64::max);
    let lanes = Lanes { left: LEFT, last, row: 14.0 };
    let totals: Vec<_> = ways.iter().map(|(name, events)| format!("{name}: {:.1} ms", end(events))).collect();
    let mut drawing =
        Drawing::titled(title, format!("A box for each copy and each product, by its time. {}.", totals.join("; ")));
    let mut y = 24.0;
    for (name, events) in ways {
        y = lanes.head(&mut drawing, y, name, format!("{:.1} ms", end(events)));
        for (queue, name, class) in rows {
            let own = events.iter().filter(|event| event.queue == *queue);
            let bars: Vec<Bar> = own.map(|event| Bar::new(class, event.start_ms, event.end_ms)).collect();
            y = lanes.lane(&mut drawing, y, name, &bars);
        }
        y += 8.0;
    }
    let mut ms = 0.0;
    while ms < last {
        let text = if ms == 0.0 { "0".into() } else { format!("{ms:.0} ms") };
        // The last label is right-aligned if it would cross the edge.
        let (anchor, at) =
            if lanes.x(ms) + HALF_A_LABEL > WIDTH { (Anchor::End, WIDTH) } else { (Anchor::Middle, lanes.x(ms)) };
        drawing.text("dim", anchor, (at, y + 8.0), text);
        ms += STEP;
    }
    let day = catalog::text::day(&run.date);
    drawing.note(y + 26.0, format!("{}, {day}; by events in its streams.", run.device));
    drawing.finish(y + 36.0)
}
