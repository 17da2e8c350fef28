//! Predictions for kernels that use local memory, beside the times of an H200.

mod recorded;

use timing::Resource;
use timing::accuracy::{Kind, Set};

#[test]
fn local_memory_costs_what_was_measured() {
    for launch in recorded::replayed(Set::Spills) {
        let (name, measured) = (&launch.name, launch.measured_us);
        let prediction = match launch.predicted() {
            Ok(prediction) => prediction,
            Err(why) => {
                assert!(why.contains("lanes access different elements"), "{name}: {why}");
                assert_eq!(name, "local3.n64.w32");
                continue;
            }
        };
        let what = format!("{name} {:?}: {:.1} µs, measured {measured:.1}", launch.shape, prediction.us);
        assert!((prediction.us / measured - 1.0).abs() <= Kind::Memory.band(), "{what}");
        let binds = match &name[..] {
            "poly.r0" => Resource::Issue,
            "outer.r0" | "v06.r0" => Resource::Registers,
            "local1.n64.w64" => Resource::Dram,
            "local3.n64.w16" => Resource::L1,
            _ => Resource::LocalStores,
        };
        assert_eq!(prediction.bounds[0].resource, binds, "{what}");
    }
}
