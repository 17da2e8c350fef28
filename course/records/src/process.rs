//! Times of a GEMM from arrays of the host to the result in the host, on one device: `book/data/h200-process.json`.
//!
//! `v13 measure --json` and `v13 run --json` write the parts, which `book/data/process.py` joins.

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::{Run, Samples};

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ProcessRecord {
    pub run: Run,
    pub measured: Vec<Entry>,
    /// Loading a module from PTX in a later process.
    pub later_process: Vec<Entry>,
    /// Loading a module from PTX without the driver's cache.
    pub without_cache: Vec<Entry>,
    pub comparisons: Vec<Comparison>,
}

/// A cost that was measured by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub what: String,
    /// Bytes that are copied or allocated; 0 where there are none.
    pub bytes: usize,
    /// Times in the order in which they were taken; none on the emulated device.
    pub ms: Samples,
}

impl Entry {
    /// Returns the best rate, in GB/s.
    pub fn best_gbs(&self) -> f64 {
        self.bytes as f64 / self.ms.extent()[0] / 1e6
    }
}

/// One run of `v13 run`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Comparison {
    /// The run of this comparison, if it is not that of the file.
    pub run: Option<Run>,
    /// Parts of the matrices in chunks, shells and panels.
    pub chunks: u32,
    pub sizes: Vec<Size>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Size {
    pub shape: Shape,
    pub bound: Bound,
    pub variants: Vec<Variant>,
}

/// Time of each part alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    pub copy_in_ms: f64,
    pub kernel_ms: f64,
    pub copy_out_ms: f64,
}

impl Bound {
    fn parts(self) -> [(f64, &'static str); 3] {
        [(self.copy_in_ms, "copy in"), (self.kernel_ms, "product"), (self.copy_out_ms, "copy out")]
    }

    pub fn longest(self) -> (f64, &'static str) {
        self.parts().into_iter().max_by(|x, y| x.0.total_cmp(&y.0)).expect("three")
    }

    pub fn copies_take_longest(self) -> bool {
        self.longest().1 != "product"
    }

    pub fn sum(self) -> f64 {
        self.parts().iter().map(|part| part.0).sum()
    }
}

/// A way to compute the product, with its times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    pub variant: String,
    pub device_bytes: usize,
    pub operations: usize,
    /// None on the emulated device.
    pub total_ms: Samples,
    /// Duration of the host's calls within each total; `None` for a graph.
    pub calls_ms: Option<Samples>,
    /// Time of the same operations with nothing to do.
    pub empty_ms: Option<Samples>,
    /// Events of the repetition with the median time; a graph has none.
    #[serde(default)]
    pub events: Vec<Event>,
}

/// A queue of operations, which run in order; queues run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queue {
    /// Copies to the device.
    In,
    Kernel,
    /// Copies to the host.
    Out,
    /// Exchanges with a second device.
    Peer,
}

/// An operation with its times, from the beginning of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub queue: Queue,
    pub what: String,
    pub bytes: usize,
    pub start_ms: f64,
    pub end_ms: f64,
}

/// Returns the sum of the durations of a queue's operations.
pub fn busy_ms(events: &[Event], queue: Queue) -> f64 {
    let of_queue = events.iter().filter(|event| event.queue == queue);
    of_queue.map(|event| event.end_ms - event.start_ms).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median of no samples is NaN, which a page would print.
    #[test]
    fn times_on_record_have_samples() {
        let record = include_str!("../../../book/data/h200-process.json");
        let record: ProcessRecord = serde_json::from_str(record).expect("a record");
        for way in record.comparisons.iter().flat_map(|comparison| &comparison.sizes).flat_map(|size| &size.variants) {
            let times = [Some(&way.total_ms), way.calls_ms.as_ref(), way.empty_ms.as_ref()];
            assert!(times.into_iter().flatten().all(|samples| !samples.0.is_empty()), "{}", way.variant);
        }
    }
}
