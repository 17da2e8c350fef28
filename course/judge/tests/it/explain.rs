//! Counts of source lines and machine instructions in finished kernels: the sums, and how much belongs to no line.

#![expect(clippy::panic, reason = "a test says what went wrong")]

use std::process::Command;

use catalog::Shape;
use catalog::provenance::{cubin_of, target_of};
use counters::Summary;
use tasks::explain::machine_code::{MachineCodeExplanation, Pipeline, Prediction, Slot, State};
use tasks::{Task, explain::Explained};
use tasks::{measure::Measure, task::TaskKind};

use crate::common::{kernel_tasks, ptx_of, read, request, root};

/// Returns the committed machine code of a task's kernel, explained on a small problem.
fn code(task: &Task) -> Option<(sass::Module, MachineCodeExplanation)> {
    const SIZE: usize = 128;
    code_on(task, Shape::square(SIZE))
}

fn code_on(task: &Task, shape: Shape) -> Option<(sass::Module, MachineCodeExplanation)> {
    let source = root().join(&task.solution);
    let cubin = std::fs::read(cubin_of(root(), &source)?).ok()?;
    let module = sass::Module::read(&cubin).unwrap_or_else(|error| panic!("{}: {error}", task.name));
    let sources = [(task.solution.display().to_string(), String::new())];
    let explained = judge::explain::code::explain(&request(task, "", &sources), &module, shape);
    Some((module, explained.unwrap_or_else(|why| panic!("{}: {why}", task.name))))
}

/// Returns the first error in the explanation of a kernel's machine code.
fn complaint_of_code(task: &Task, module: &sass::Module, explanation: &MachineCodeExplanation) -> Option<String> {
    let kernel = module.kernels.iter().find(|kernel| kernel.name == task.entry)?;
    let own = task.solution.display().to_string();
    let issued = |name: &str| -> u64 {
        let all = kernel.instructions.iter().zip(&explanation.instructions);
        let some = all.filter(|(code, _)| code.operation.name() == name);
        some.map(|(_, explanation)| explanation.issued).sum()
    };
    let name = if task.work.is_double() { "DFMA" } else { "FFMA" };
    // Each lane computes one element of the result; some lanes have none.
    let least = (task.work.fmas(explanation.shape) / 32.0) as u64;
    if issued(name) < least {
        return Some(format!("{} {name}, and {least} are necessary", issued(name)));
    }
    let n_modelled: u64 = explanation.instructions.iter().map(|i| i.modelled).sum();
    let n_issued: u64 = explanation.instructions.iter().map(|i| i.issued).sum();
    // Calls from two lines may be merged into one instruction, which then has no location of its own.
    let others = explanation.instructions.iter().filter(|i| i.file != own);
    let n_others: u64 = others.map(|i| i.issued).sum();
    if n_others * 10 > n_issued {
        return Some(format!("{n_others} of {n_issued} belong to no line of the kernel"));
    }
    if explanation.predicted.prediction.is_none() || n_modelled == 0 || n_modelled > n_issued {
        return Some(format!("{n_modelled} of {n_issued} in the model: {:?}", explanation.predicted));
    }
    let Some(timeline) = &explanation.timeline else {
        return (!task.work.is_transpose()).then(|| "a product without a loop".into());
    };
    let is_in_order = |slots: &[Slot]| slots.is_sorted_by(|a, b| a.clock < b.clock);
    (!timeline.schedulers.iter().all(|slots| is_in_order(slots))).then(|| "two issues in a clock".into())
}

#[test]
fn machine_code_belongs_to_lines_and_has_a_time() {
    let mut n = 0;
    let mut complaints = Vec::new();
    for task in kernel_tasks() {
        if let Some((module, explanation)) = code(&task) {
            n += 1;
            let complaint = complaint_of_code(&task, &module, &explanation);
            complaints.extend(complaint.map(|why| format!("{}: {why}", task.name)));
        }
    }
    assert!(n >= 8, "{n}");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Checks the pipeline of a kernel of the book on a product of one tile for each block, and returns it.
#[track_caller]
fn pipeline(entry: &str, [m, n, k]: [usize; 3], roles: &[&str], stages: u32) -> (Pipeline, Prediction) {
    let task = tasks::committed::find(root(), entry).expect("it is read").expect("it is listed");
    let (_, explanation) = code_on(&task, Shape { m, n, k }).expect("it is committed");
    let pipeline = explanation.timeline.and_then(|timeline| timeline.pipeline).expect("it copies");
    let names: Vec<&str> = pipeline.roles.iter().map(|role| role.name.as_str()).collect();
    assert_eq!((names.as_slice(), pipeline.stages), (roles, stages), "{entry}");
    for role in &pipeline.roles {
        let spans = &role.spans;
        assert!(spans.windows(2).all(|pair| pair[0].to <= pair[1].from), "{entry}: {}", role.name);
        assert!(spans.iter().all(|span| span.from < span.to && span.to <= pipeline.clocks), "{entry}: {}", role.name);
        let warps = u64::from(role.warps[1] - role.warps[0] + 1);
        assert!(role.states.values().sum::<u64>() <= warps * u64::from(pipeline.clocks), "{entry}: {}", role.name);
    }
    // What is on its way has a place in shared memory.
    let most = pipeline.in_flight.iter().map(|[_, bytes]| u64::from(*bytes)).max();
    assert!(most.is_some_and(|most| 0 < most && most <= explanation.shared_bytes), "{entry}: {most:?}");
    (pipeline, explanation.predicted.prediction.expect("the model has all instructions"))
}

#[test]
fn a_ring_keeps_the_tensor_cores_busy() {
    const STEPS: usize = 64;
    let (pipeline, prediction) =
        pipeline("gemm_v12_ring_f32", [128, 256, 64 * STEPS], &["consumer 0", "consumer 1", "producer"], 4);
    // A step is 64 deep: its products take 4 × 2 × 128 clocks, and the copies are here before.
    let round = 4 * 1024;
    assert_eq!((pipeline.round, pipeline.clocks), (round, 3 * round));
    let launch = prediction.of_unit("tensor cores").map(|bound| prediction.part(bound)).expect("it multiplies");
    let shown = pipeline.multiplying_share();
    assert!(shown <= 1.0 && (shown - launch).abs() < 0.15, "{shown} of the clocks, {launch} of the launch");
    // Each of three rounds copies four pairs of tiles, whose products each warpgroup waits for.
    let starts = |name: &str, state| {
        let role = pipeline.roles.iter().find(|role| role.name == name).expect("a role");
        role.states.get(&state).copied().unwrap_or(0)
    };
    assert!(starts("producer", State::Copies) >= 12 * 3);
    for consumer in ["consumer 0", "consumer 1"] {
        assert!(starts(consumer, State::Sums) * 2 > u64::from(4 * pipeline.clocks), "{consumer}");
        assert_eq!(starts(consumer, State::Copies), 0);
    }
}

#[test]
fn pipelines_have_the_roles_of_their_kernels() {
    let two = ["consumer 0", "consumer 1", "producer"];
    pipeline("sgemm_v11_producer", [256, 128, 1024], &two, 4);
    pipeline("gemm_v12_ping_pong_f32", [256, 128, 2048], &["consumer", "producer"], 6);
    let (ahead, _) = pipeline("gemm_v12_mma_ring_f32", [256, 128, 1024], &["warps 0-7"], 0);
    assert!(ahead.multiplying_share() > 0.5, "{}", ahead.multiplying_share());
    assert_eq!(tasks::launch::SMS, simt::occupancy::SMS);
}

#[test]
fn a_kernel_whose_warps_do_all_has_no_pipeline() {
    let task = kernel_tasks().into_iter().find(|task| task.name.to_string() == "v07").expect("a task");
    let (_, explanation) = code(&task).expect("it is committed");
    assert_eq!(explanation.timeline.expect("it has a loop").pipeline, None);
}

#[test]
fn what_is_no_machine_code_is_refused_with_its_name() {
    let task = kernel_tasks().into_iter().find(|task| task.kind == TaskKind::Rebuild).expect("v01 has one");
    let folder = tempfile::tempdir().expect("a folder");
    let source = root().join(&task.solution);
    let whole = std::fs::read(cubin_of(root(), &source).expect("a kernel")).expect("it is committed");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let json = put("task.json", &serde_json::to_vec(&task).expect("plain data"));
    let mut other = whole.clone();
    // An instruction that does not exist, wherever the code is.
    let at = other.windows(4).position(|word| word == [0x24, 0x7e, 0x01, 0xff]);
    other.splice(at.map_or(0..0, |at| at..at + 2), [0xff, 0x0f]);
    for (name, bytes) in
        [("empty", &[][..]), ("text", &b".version 8.4\n"[..]), ("half", &whole[..whole.len() / 2]), ("other", &other)]
    {
        let cubin = put(name, bytes);
        let output = Command::new(env!("CARGO_BIN_EXE_judge"))
            .arg("--task")
            .arg(&json)
            .arg("--ptx")
            .arg(target_of(root(), &source))
            .args(["--explain", "--size", "64", "--cubin"])
            .arg(&cubin)
            .output()
            .expect("judge runs");
        let explanation = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{name}: {explanation}");
        assert!(explanation.contains(&cubin.display().to_string()), "{name}: {explanation}");
    }
}

fn explained(task: &Task) -> (Explained, String) {
    let text = read(&task.solution);
    let sources = [(task.solution.display().to_string(), text.clone())];
    let explained = judge::explain::explain(&request(task, &ptx_of(&task.solution), &sources));
    (explained.unwrap_or_else(|why| panic!("{}: {why}", task.name)), text)
}

/// Returns the first error in the explanation of a finished kernel.
fn complaint(task: &Task) -> Option<String> {
    let (explained, text) = explained(task);
    let own = task.solution.display().to_string();
    let mut sum = Summary::default();
    let mut nowhere = Summary::default();
    for line in &explained.lines {
        sum += line.counts;
        if line.file.is_empty() {
            nowhere += line.counts;
        } else if line.file != own {
            return Some(format!("a line of {}, which is called from the kernel", line.file));
        } else if text.lines().nth(line.line as usize - 1).is_none_or(|text| text.trim().is_empty()) {
            return Some(format!("line {} is empty", line.line));
        }
    }
    if sum != explained.total {
        return Some("the lines do not add up".into());
    }
    if !explained.right || explained.stopped.is_some() {
        return Some("the result is wrong".into());
    }
    // The measured events of a task have a line in its kernel.
    let most = [
        (nowhere.multiply_adds, sum.multiply_adds),
        (nowhere.sectors, sum.sectors),
        (nowhere.barriers, sum.barriers),
        (nowhere.instructions, sum.instructions),
    ];
    const SMALL: f64 = 0.15;
    most.iter()
        .any(|(part, all)| *part as f64 > SMALL * *all as f64)
        .then(|| format!("too much belongs to no line: {nowhere:?} of {sum:?}"))
}

#[test]
fn lines_add_up_and_belong_to_the_kernel() {
    let tasks = kernel_tasks();
    assert!(!tasks.is_empty());
    let complaints: Vec<String> =
        tasks.iter().filter_map(|task| Some(format!("{}: {}", task.name, complaint(task)?))).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_line_counts_what_it_calls_in_another_file() {
    let tasks = kernel_tasks();
    let task = tasks.iter().find(|task| task.name.to_string() == "v05").expect("a task");
    let (explained, text) = explained(task);
    // 64 steps of k in tiles of 8, 4 blocks of 8 warps: a float4 of each lane is 16 sectors.
    let loads: Vec<(u64, u64)> = explained
        .lines
        .iter()
        .filter(|line| {
            let text = text.lines().nth((line.line as usize).wrapping_sub(1));
            text.is_some_and(|text| text.contains("= load4_or_zero("))
        })
        .map(|line| (line.counts.requests, line.counts.sectors))
        .collect();
    assert_eq!(loads, [(256, 4096), (256, 4096)]);
    assert_eq!(explained.total.excess, 0);
}

#[test]
fn the_excess_of_lines_is_the_one_that_is_judged() {
    for task in kernel_tasks() {
        let Some(criterion) = task.criteria.first().filter(|c| c.measure == Measure::SharedExcessPerFma) else {
            continue;
        };
        let (explained, _) = explained(&task);
        let per_fma = explained.total.excess as f64 / (task.work.fmas(criterion.shape()) / 32.0);
        assert!(criterion.accepts(per_fma), "{}: {per_fma}", task.name);
    }
}
