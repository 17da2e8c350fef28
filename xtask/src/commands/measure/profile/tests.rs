use counters::Counters;

use super::*;

/// An output of Nsight Compute 2025.3.1.
const ANSWER: &str = include_str!("answer.csv");

#[test]
fn the_profilers_table_is_read() {
    let seen = parse(ANSWER).expect("a table");
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].kernel, "sgemm_v01_row_per_lane");
    assert_eq!((seen[0].grid, seen[0].block), ([32, 32, 1], [1024, 1, 1]));
    let sectors = seen[0].metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
    assert_eq!(sectors, 1_107_296_256);
    assert_eq!(seen[1].metrics.len(), 1);
}

#[test]
fn a_metric_that_is_not_there_is_named() {
    let error = parse(&ANSWER.replace("1,107,296,256", "n/a")).unwrap_err();
    assert!(error.to_string().contains("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
}

#[test]
fn a_complaint_of_the_profiler_is_told() {
    let text = "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n";
    let told = complaints(text);
    assert!(told.starts_with("ERR_NVGPUCTRPERM") && told.contains("as root"), "{told}");
    assert_eq!(complaints(ANSWER), "");
}

/// Returns a launch in which nothing happened, except for stores to shared memory.
fn launch_of(ours: u64, theirs: u64) -> (Profile, Launched) {
    let mut metrics: BTreeMap<String, u64> = BTreeMap::new();
    for pair in PAIRS {
        metrics.extend(pair.metrics.iter().map(|name| ((*name).to_owned(), 0)));
    }
    metrics.insert("smsp__inst_executed_op_shared_st.sum".into(), theirs);
    let counters = Counters { shared_store_requests: ours, shared_store_requests_merged: ours, ..Counters::default() };
    let profile = Profile {
        run: "one".into(),
        step: "v08".into(),
        kernel: "transpose_tile".into(),
        shape: Shape { m: 509, n: 503, k: 0 },
        ptx_sha256: String::new(),
        grid: [16, 16, 1],
        block: [1024, 1, 1],
        dynamic_shared: 0,
        metrics,
    };
    let launched = Launched {
        run: "two".into(),
        step: profile.step.clone(),
        kernel: profile.kernel.clone(),
        shape: profile.shape,
        ptx_sha256: String::new(),
        grid: profile.grid,
        block: profile.block,
        dynamic_shared: 0,
        counters: Some(counters),
        not_run: None,
    };
    (profile, launched)
}

#[test]
fn a_difference_stands_with_its_reason() {
    let (profile, launched) = launch_of(8144, 8192);
    insta::assert_snapshot!(render_table(&[profile], &[launched], Paint::plain()), @"
        transpose_tile on 509x503
          counter                emulated  Nsight Compute  difference
          shared_store_requests     8 144           8 192         +48
          shared_store_requests: ptxas turns the branch around the access into a predicate; a warp that lies outside of the matrix issues it with no lane on, and Nsight counts what is issued (such an access has no wavefronts)
        ");
}

#[test]
fn without_the_emulated_side_the_metrics_are_shown() {
    let (profile, _) = launch_of(8144, 8192);
    let text = render_table(std::slice::from_ref(&profile), &[], Paint::plain());
    assert!(text.contains("smsp__inst_executed_op_shared_st.sum"), "{text}");
    assert!(as_json(&[profile], &[]).contains("\"emulated\":null"));
}
