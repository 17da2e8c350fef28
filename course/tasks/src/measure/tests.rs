use super::*;

fn launch(total: &Counters) -> CountedLaunch<'_> {
    CountedLaunch {
        total,
        instructions: &[],
        grid: [2, 3, 1],
        block: [48, 1, 1],
        work: TaskWork::Sgemm,
        shape: Shape { m: 64, n: 32, k: 16 },
        bk: Some(8),
        ahead: None,
    }
}

#[test]
fn per_multiply_add_is_of_the_result() {
    // 1024 multiply-adds of a warp, however many the kernel does.
    let total = Counters { fmas: 7, global_load_sectors: 2048, ..Counters::default() };
    assert_eq!(Measure::LoadSectorsPerFma.value(&launch(&total)), Some(2.0));
    assert_eq!(Measure::FmasPerSharedLoad.value(&launch(&total)), None);
}

#[test]
fn atomics_count_as_loads_and_as_stores() {
    let total = Counters {
        global_load_sectors: 1024,
        global_atomic_sectors: 1024,
        shared_load_bytes: 4 * 32 * 1024,
        shared_atomic_requests: 1024,
        ..Counters::default()
    };
    assert_eq!(Measure::LoadSectorsPerFma.value(&launch(&total)), Some(2.0));
    assert_eq!(Measure::StoreSectorsPerElement.value(&launch(&total)), Some(0.5));
    assert_eq!(Measure::SharedWordsPerFma.value(&launch(&total)), Some(2.0));
}

#[test]
fn what_is_not_there_meets_no_limit() {
    let not_applicable = |measure: Measure, total: Counters| measure.not_applicable(&launch(&total));
    let none = Counters::default();
    assert_eq!(not_applicable(Measure::SharedExcessPerFma, none), Some("no access to shared memory"));
    assert_eq!(not_applicable(Measure::SharedExcessPerFma, Counters { shared_load_requests_merged: 1, ..none }), None);
    assert_eq!(not_applicable(Measure::SharedExcess, none), None);
    assert!(not_applicable(Measure::BarriersPerTile, none).is_some());
    assert_eq!(not_applicable(Measure::BarriersPerTile, Counters { barriers: 24, ..none }), None);
    assert!(not_applicable(Measure::FmasDone, Counters { fmas: 16_384, ..none }).is_some());
    assert_eq!(not_applicable(Measure::FmasDone, Counters { fmas: 32_768, ..none }), None);
    let bulk = Counters { bulk_copies: 1, fmas: 32_768, ..none };
    assert_eq!(not_applicable(Measure::LoadSectorsPerFma, bulk), Some("bulk copies, whose bytes nothing counts"));
    assert_eq!(not_applicable(Measure::FmasDone, bulk), None);
}

#[test]
fn barriers_count_per_warp_and_step() {
    let total = Counters { barriers: 48, ..Counters::default() };
    assert_eq!(Measure::BarriersPerWarp.value(&launch(&total)), Some(4.0));
    assert_eq!(Measure::BarriersPerTile.value(&launch(&total)), Some(2.0));
}

#[test]
fn excess_is_what_lies_above_the_ideal() {
    let total = Counters {
        shared_load_wavefronts_merged: 10,
        shared_load_ideal_merged: 4,
        async_copy_wavefronts: 3,
        async_copy_ideal: 1,
        ..Counters::default()
    };
    assert_eq!(Measure::SharedExcess.value(&launch(&total)), Some(8.0));
    assert_eq!(Measure::SharedExcessPerFma.value(&launch(&total)), Some(8.0 / 1024.0));
}

#[test]
fn wide_accesses_are_those_of_16_bytes() {
    let load = |global_load_bytes: u64| Counters { global_load_bytes, ..Counters::default() };
    let store = Counters { global_store_bytes: 64, ..Counters::default() };
    let (total, n512, n256, n128) = (Counters::default(), load(512), load(256), load(128));
    let taken = CountedLaunch {
        instructions: &[
            ("@%p1 ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", &n512),
            ("ld.global.v2.f64 {%fd1, %fd2}, [%rd1];", &n512),
            ("ld.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [%rd1];", &n256),
            ("ld.global.f32 %f1, [%rd1+16];", &n128),
            ("cp.async.cg.shared.global [%r1], [%rd1], 16;", &n512),
            ("cp.async.ca.shared.global [%r1], [%rd1], 4;", &n128),
            ("st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};", &store),
        ],
        ..launch(&total)
    };
    assert_eq!(Measure::WideGlobalBytes.value(&taken), Some(1536.0 / 2048.0));
    assert_eq!(Measure::WideStoreBytes.value(&taken), Some(1.0));
    assert_eq!(Measure::WideSharedBytes.value(&taken), None);
}
