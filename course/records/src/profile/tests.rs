use super::*;

#[test]
fn reasons_speak_of_what_there_is() {
    for reason in REASONS.iter().chain([&OF_DIFFERENT_THINGS]) {
        for counter in reason.counters {
            assert!(PAIRS.iter().any(|pair| pair.name == *counter), "{counter}");
        }
        for kernel in reason.kernels {
            assert!(catalog::STEPS.iter().any(|step| step.kernel(kernel).is_some()), "{kernel}");
        }
    }
}

#[test]
fn sums_are_the_derived_metrics() {
    let counters = Counters {
        shared_load_wavefronts_merged: 1,
        shared_load_ideal_merged: 2,
        shared_store_wavefronts_merged: 4,
        shared_store_ideal_merged: 8,
        shared_atomic_wavefronts: 16,
        shared_atomic_ideal: 32,
        async_copy_wavefronts: 64,
        async_copy_ideal: 128,
        tensor_operand_wavefronts: 256,
        ..Counters::default()
    };
    let counts = Counts::emulated(&counters);
    assert_eq!(counts.shared_wavefronts, counters.wavefronts());
    assert_eq!(counts.shared_ideal, counters.ideal());
}

#[test]
fn a_pair_is_compared_as_merged() {
    let mut metrics: BTreeMap<String, u64> = BTreeMap::new();
    for pair in PAIRS {
        metrics.extend(pair.metrics.iter().map(|name| ((*name).to_owned(), 0)));
    }
    metrics.insert("smsp__inst_executed_op_shared_ld.sum".into(), 16);
    let counters = Counters { shared_load_requests: 4096, shared_load_requests_merged: 16, ..Counters::default() };
    let mut profile = Profile {
        run: "one".into(),
        step: "v05".into(),
        kernel: "sgemm_v05_bank_conflict_free".into(),
        shape: Shape::square(8),
        ptx_sha256: String::new(),
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        metrics,
    };
    let counted = Counted::new(&profile, &counters).expect("everything is there");
    let all = counted.compared();
    let [one] = &all[..] else { panic!("{all:?}") };
    assert_eq!(one.cells("k"), ["shared_load_requests", "16", "16", "0", "as ptxas merges them; as written 4 096"]);
    profile.metrics.clear();
    assert_eq!(Counted::new(&profile, &counters), None);
}
