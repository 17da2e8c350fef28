//! Occupancies and predictions as reports have them, in JSON.

use serde_json::{Value, json};
use simt::occupancy::{self, Footprint, Limit, Occupancy, THREADS_PER_SM};

use crate::{Bound, Chip, Prediction};

/// Returns how many blocks and warps a multiprocessor holds.
pub fn occupancy(footprint: Footprint) -> Value {
    let Occupancy { blocks, limit } = occupancy::occupancy(footprint);
    json!({
        "blocks": blocks,
        "warps": blocks * footprint.threads.div_ceil(32),
        "most_warps": THREADS_PER_SM / 32,
        "registers": footprint.registers,
        "limit": match limit {
            Limit::Threads => "threads",
            Limit::Registers => "registers",
            Limit::Shared => "shared memory",
            Limit::Blocks => "blocks",
        },
    })
}

pub fn prediction(chip: &Chip, prediction: &Prediction) -> Value {
    let list = |bounds: &[Bound]| -> Vec<Value> {
        let bound = |bound: &Bound| json!({ "unit": bound.resource.name(), "us": bound.us });
        bounds.iter().map(bound).collect()
    };
    json!({
        "gpu": chip.name,
        "us": prediction.us,
        "band": prediction.band(),
        "change_band": prediction.change_band(),
        "bounds": list(&prediction.bounds),
        "parts": list(&prediction.parts),
        "ghz": prediction.ghz,
        "n_blocks": prediction.n_blocks,
        "n_sms": chip.sms,
    })
}
