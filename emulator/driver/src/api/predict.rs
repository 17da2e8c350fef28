//! Predictions of launches on a real GPU.

use serde_json::{Value, json};
use simt::{gpu::Gpu, launch::LaunchRequest, report::Language, texture::Textures};
use std::sync::Arc;
use timing::{Chip, LoadedCode, predict};

use crate::api::{function::footprint_of, module::Function};
use crate::contexts::MEMORY;

/// Returns the report that `tile_report` returns for a predicted launch.
pub(crate) fn report(function: &Function, request: &LaunchRequest, textures: Textures) -> Value {
    let kernel = function.loaded.kernel();
    let mut report = json!({
        "kernel": kernel.name,
        "grid": request.grid,
        "block": request.block,
        "dynamic_shared": request.dynamic_shared,
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
    let footprint = footprint_of(function, request.block, request.dynamic_shared);
    report["occupancy"] = timing::report::occupancy(footprint);
    let gpu = Gpu { memory: Arc::clone(&MEMORY), textures };
    let chip = Chip::h200();
    match predict(chip, LoadedCode { code, kernel: &function.loaded, gpu: &gpu }, request) {
        Ok(prediction) => report["prediction"] = timing::report::prediction(chip, &prediction),
        Err(why) => report["no_prediction"] = json!(why.to_string()),
    }
    report
}
