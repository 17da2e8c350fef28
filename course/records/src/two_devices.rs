//! Times of a GEMM on two devices of one host: `book/data/h200-two.json`, which `v13 two --json` writes.

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::process::{Bound, Entry, Event, Queue, busy_ms};
use crate::{Run, Samples};

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TwoRecord {
    pub run: Run,
    pub nccl: Option<String>,
    pub links: Vec<Entry>,
    pub sizes: Vec<Size>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Size {
    pub shape: Shape,
    pub bound: Bound,
    pub pair_bound: PairBound,
    pub ways: Vec<Way>,
}

impl Size {
    /// Returns the smallest median time on one device.
    pub fn best_of_one(&self) -> f64 {
        let of_one = self.ways.iter().filter(|way| !way.on_two());
        of_one.map(|way| way.total_ms.median()).fold(f64::INFINITY, f64::min)
    }
}

/// Time of each part alone, on both devices at once: that of the slower one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairBound {
    /// Link of the exchange: `nccl` or `copies`.
    pub link: String,
    pub copy_in_ms: f64,
    pub exchange_ms: f64,
    pub kernel_ms: f64,
    pub copy_out_ms: f64,
}

/// A way to compute the product, with its times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Way {
    pub way: String,
    /// Memory on each device that takes part.
    pub device_bytes: Vec<usize>,
    pub operations: Vec<usize>,
    /// None on the emulated device.
    pub total_ms: Samples,
    /// Events of each device by its own clock, from the repetition with the median time; a graph has none.
    #[serde(default)]
    pub events: Vec<Vec<Event>>,
}

impl Way {
    /// Returns the sum of the durations of a queue's operations, on the device where it is largest.
    pub fn busy_ms(&self, queue: Queue) -> Option<f64> {
        let most = self.events.iter().map(|events| busy_ms(events, queue)).fold(0.0, f64::max);
        (most > 0.0).then_some(most)
    }

    pub fn on_two(&self) -> bool {
        self.device_bytes.len() > 1
    }
}
