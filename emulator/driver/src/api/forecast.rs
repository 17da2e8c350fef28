//! Predictions of launches on a real GPU.

use serde_json::{Value, json};
use simt::gpu::Gpu;
use simt::launch::LaunchRequest;
use simt::occupancy::{Footprint, Limit, Occupancy, THREADS_PER_SM, occupancy};
use simt::report::Language;
use simt::texture::Textures;
use std::sync::Arc;
use timing::{Bound, Chip, Prediction, predict};

use crate::api::module::Function;
use crate::contexts::MEMORY;

/// Returns the report that `tile_report` returns for a predicted launch.
pub(crate) fn report(function: &Function, config: &LaunchRequest, textures: Textures) -> Value {
    let kernel = function.loaded.kernel();
    let mut report = json!({
        "kernel": kernel.name,
        "grid": config.grid,
        "block": config.block,
        "dynamic_shared": config.dynamic_shared,
        "code": if kernel.machine_code { Language::Machine } else { Language::Ptx },
        "occupancy": null,
        "prediction": null,
        "no_prediction": null,
    });
    let Some(code) = function.machine_code() else {
        report["no_prediction"] = json!(
            "the module is PTX, and times are those of machine code: load a cubin for sm_90 \
             (nvcc -cubin -arch=sm_90, or nvrtcGetCUBIN)"
        );
        return report;
    };
    let footprint = Footprint {
        threads: config.block.iter().product(),
        registers: code.registers,
        shared: u64::from(kernel.shared_static_bytes) + u64::from(config.dynamic_shared),
    };
    report["occupancy"] = of_occupancy(footprint);
    let gpu = Gpu { memory: Arc::clone(&MEMORY), textures };
    let chip = Chip::h200();
    match predict(chip, &gpu, code, &function.loaded, config) {
        Ok(prediction) => report["prediction"] = of_prediction(chip, &prediction),
        Err(why) => report["no_prediction"] = json!(why.to_string()),
    }
    report
}

fn of_occupancy(footprint: Footprint) -> Value {
    let Occupancy { blocks, limit } = occupancy(footprint);
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

fn of_prediction(chip: &Chip, prediction: &Prediction) -> Value {
    let list = |bounds: &[Bound]| -> Vec<Value> {
        let bound = |bound: &Bound| json!({ "unit": bound.resource.name(), "us": bound.us });
        bounds.iter().map(bound).collect()
    };
    json!({
        "gpu": chip.name,
        "us": prediction.us,
        "band": prediction.band(),
        "bounds": list(&prediction.bounds),
        "parts": list(&prediction.parts),
        "ghz": chip.ghz,
        "n_blocks": prediction.n_blocks,
        "n_sms": chip.sms,
    })
}
