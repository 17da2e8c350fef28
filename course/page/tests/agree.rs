//! Replies about kernels, right and wrong; those of the WebAssembly module are the native build's.

#![expect(clippy::print_stdout, reason = "a test says what was not run")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use catalog::STEPS;
use catalog::programs::all_on_path;
use catalog::provenance::with_only;
use serde_json::{Value, json};
use tasks::{Catalogue, Task, TaskName, solutions};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).expect("a file of the checkout")
}

fn request(task: &Task, source: &str, shape: [usize; 3]) -> String {
    let headers = [("common.cuh", read("kernels/common.cuh"))];
    let name = format!("{}.cu", task.name);
    json!({"name": name, "source": source, "headers": headers, "task": task, "shape": shape}).to_string()
}

fn v02() -> (Task, String) {
    let catalogue = Catalogue::load(root(), "v02").expect("a catalogue");
    let task = catalogue.task(&TaskName::rebuild("v02")).expect("a task").clone();
    let source = read(&task.solution);
    (task, source)
}

/// Returns the reply about v02 with an edit.
#[track_caller]
fn reply(from: &str, to: &str) -> Value {
    let (task, source) = v02();
    assert!(source.contains(from), "the kernel has no `{from}`");
    let reply = page::reply(&request(&task, &source.replacen(from, to, 1), [64; 3]));
    serde_json::from_str(&reply).expect("JSON")
}

/// Returns the line of v02's kernel that has a text.
fn line(text: &str) -> usize {
    v02().1.lines().position(|line| line.contains(text)).expect("a line") + 1
}

#[test]
fn a_right_kernel_passes_and_its_lines_are_counted() {
    let reply = reply("", "");
    assert_eq!((&reply["messages"], &reply["error"]), (&json!([]), &Value::Null));
    assert_eq!(reply["verdict"]["status"], "passed");
    assert_eq!(reply["map"], json!({"rows": 64, "columns": 64, "wrong": []}));
    let at = line("acc += a_tile");
    let lines = reply["explained"]["lines"].as_array().expect("lines");
    assert!(lines.iter().any(|line| line["line"] == at), "{lines:?} have no line {at}");
    assert_eq!(reply["explained"]["total"]["multiply_adds"], 64 * 64 * 64);
}

#[test]
fn a_race_names_both_lines() {
    let reply = reply("        __syncthreads();  // reads of", "        // reads of");
    let found = &reply["verdict"]["findings"][0];
    assert_eq!(found["code"], "E-RACE");
    let lines = [&found["line"], &found["others"][0][1]].map(|line| line.as_u64().expect("a line"));
    assert!(lines[0] != lines[1] && lines.iter().all(|line| *line > 0), "{lines:?}");
    let race = &found["race"];
    let accesses = race["accesses"].as_array().expect("accesses").iter().map(|access| access["line"].as_u64());
    let mut accesses: Vec<u64> = accesses.map(|line| line.expect("a line")).collect();
    accesses.sort_unstable();
    assert_eq!(
        accesses,
        [line("b_tile[thread_row][thread_col] = "), line("* b_tile[k]")].map(|line| line as u64),
        "{race}"
    );
    assert!(race["element"].as_str().is_some_and(|element| element.starts_with("b_tile[")), "{race}");
}

#[test]
fn a_source_that_does_not_compile_is_underlined() {
    let reply = reply("T acc = 0;", "let acc = 0;");
    let message = &reply["messages"][0];
    assert_eq!((&message["severity"], &message["line"]), (&json!("error"), &json!(line("T acc = 0;"))));
    assert_eq!([&message["column"], &message["end"]], [&json!(5), &json!(12)]);
    assert_eq!([&reply["verdict"], &reply["explained"]], [&Value::Null; 2]);
}

#[test]
fn an_endless_loop_ends() {
    let reply = reply("T acc = 0;", "T acc = 0; for (int i = 0; i < 1; i += 0) {}");
    assert_eq!(reply["verdict"]["findings"][0]["code"], "E-LOOP");
    assert_eq!(reply["explained"], Value::Null);
}

#[test]
fn a_read_past_the_end_is_found() {
    let reply = reply("load_or_zero(A, M, K,", "load_or_zero(A, M + 1, K,");
    let found = &reply["verdict"]["findings"][0];
    assert_eq!([&found["code"], &found["file"]], ["E-OOB", "common.cuh"]);
}

#[test]
fn a_wrong_result_is_mapped() {
    let reply = reply("T acc = 0;", "T acc = row == 3;");
    assert_eq!(reply["verdict"]["code"], "wrong-result");
    assert_eq!(reply["map"]["wrong"], json!((3 * 64..4 * 64).collect::<Vec<usize>>()));
}

/// The verdict on the first shape is the whole one where a check finds a mistake there.
#[test]
fn a_judgement_on_the_first_shape_says_what_is_left() {
    let (task, source) = v02();
    for (barrier, is_partial) in [("__syncthreads();  // reads of", true), ("// reads of", false)] {
        let source = source.replacen("__syncthreads();  // reads of", barrier, 1);
        let whole = request(&task, &source, [64; 3]);
        let mut first: Value = serde_json::from_str(&whole).expect("JSON");
        first["first"] = json!(true);
        let [first, whole] = [first.to_string(), whole].map(|request| page::reply(&request));
        let [first, whole]: [Value; 2] = [first, whole].map(|reply| serde_json::from_str(&reply).expect("JSON"));
        assert_eq!([&first["is_partial"], &whole["is_partial"]], [is_partial, false]);
        assert_eq!(first["verdict"] == whole["verdict"], !is_partial);
        assert_eq!(first["verdict"]["status"], whole["verdict"]["status"]);
    }
}

/// Returns the request for the steps of a block of a task's kernel.
fn follow(task: &Task, source: &str) -> String {
    let mut request: Value = serde_json::from_str(&request(task, source, [1; 3])).expect("JSON");
    request["follow"] = json!(true);
    request.to_string()
}

/// Steps of all warps add up to the counts of a launch of one block. Loads from tiles do not: the steps have each, and
/// the counts those that ptxas joins as one.
#[test]
fn the_steps_of_a_block_are_those_that_are_counted() {
    for (step, n_arrays) in [("v01", 3), ("v02", 5), ("v05", 5), ("v07", 5)] {
        let catalogue = Catalogue::load(root(), step).expect("a catalogue");
        let task = catalogue.task(&TaskName::rebuild(step)).expect("a task");
        let source = read(&task.solution);
        let of_block: Value = serde_json::from_str(&page::reply(&follow(task, &source))).expect("JSON");
        assert_eq!(of_block["error"], Value::Null, "{step}");
        let steps = &of_block["followed"];
        assert_eq!(steps["arrays"].as_array().map(Vec::len), Some(n_arrays), "{step}");
        let sizes = [0, 1, 2].map(|i| steps["shape"][i].as_u64().expect("a size") as usize);
        let counted: Value = serde_json::from_str(&page::reply(&request(task, &source, sizes))).expect("JSON");
        let [mut requests, mut fmas] = [0; 2];
        for program in steps["programs"].as_array().expect("programs") {
            let n = program["warps"].as_array().expect("warps").len() as u64;
            for step in program["steps"].as_array().expect("steps").iter().filter_map(Value::as_array) {
                let numbers: Vec<u64> = step.iter().filter_map(Value::as_u64).collect();
                match numbers[..] {
                    [_, _, _, array, _, _, _, _] if array < 3 => requests += n,
                    [_, _, mask, _, of_lane] => {
                        let lanes = steps["masks"][mask as usize].as_u64().expect("a mask").count_ones();
                        fmas += n * of_lane * u64::from(lanes);
                    }
                    _ => {}
                }
            }
        }
        let total = &counted["explained"]["total"];
        assert_eq!([&total["requests"], &total["multiply_adds"]], [&json!(requests), &json!(fmas)], "{step}");
    }
}

#[test]
fn steps_that_the_stepper_cannot_show_are_refused_in_words() {
    let (task, source) = v02();
    for (from, to, words) in [
        ("T acc = 0;", "__shared__ T more[4]; more[threadIdx.x & 3] = 0; T acc = more[0];", "two or three dimensions"),
        ("T acc = 0;", "T acc = 0; while (K > 0) acc += K;", "or more steps"),
        ("load_or_zero(A,", "load_or_zero(A + M * K - 8,", "outside of A"),
    ] {
        let reply = page::reply(&follow(&task, &source.replacen(from, to, 1)));
        assert!(reply.contains(words), "{words}: {}", &reply[..reply.len().min(1000)]);
    }
}

#[test]
fn kernels_of_the_ladder_are_right_with_the_launch_of_the_book() {
    let book: toml::Table = read("book/run.toml").parse().expect("TOML");
    for kernel in book["kernel"].as_array().expect("kernels") {
        let [file, step] = ["file", "like"].map(|field| kernel[field].as_str().expect("a name"));
        if !file.starts_with("kernels/") {
            continue;
        }
        let catalogue = Catalogue::load(root(), step).expect("a catalogue");
        let mut task = json!(catalogue.task(&TaskName::rebuild(step)));
        for field in ["entry", "tile", "block", "down"] {
            task[field] = kernel.get(field).map_or(json!(false), |value| json!(value));
        }
        task["criteria"] = json!([]);
        let task = serde_json::from_value(task).expect("a task");
        let reply = page::reply(&request(&task, &read(file), [64, 192, 64]));
        let reply: Value = serde_json::from_str(&reply).expect("JSON");
        assert_eq!(reply["verdict"]["status"], "passed", "{}: {}", task.entry, reply["verdict"]["why"]);
    }
}

/// Returns a request for each committed kernel that pages of the book run.
fn committed_kernels() -> Vec<String> {
    let book: toml::Table = read("book/run.toml").parse().expect("TOML");
    let kernels = book["committed"].as_array().expect("kernels");
    let sizes = &book["committed_sizes"];
    assert!(kernels.len() > 10);
    let request = |kernel: &toml::Value| {
        let mut kernel = serde_json::to_value(kernel).expect("a kernel");
        let fields = kernel.as_object_mut().expect("fields");
        let name = fields.remove("listing").expect("a listing");
        // Those of launches of other sizes.
        fields.retain(|field, _| !["tile", "blocks"].contains(&field.as_str()));
        let text = read(name.as_str().expect("a path"));
        let entry = kernel["entry"].as_str().expect("a name");
        let source = STEPS.iter().find_map(|step| step.kernel(entry)?.source).expect("a source");
        kernel["ptx"] = json!(with_only(&[entry], &read(format!("kernels/ptx/{source}.ptx"))));
        json!({"name": name, "source": text, "headers": [], "committed": kernel, "shape": sizes}).to_string()
    };
    kernels.iter().map(request).collect()
}

#[test]
fn committed_kernels_run_on_one_shape() {
    for request in committed_kernels() {
        let reply: Value = serde_json::from_str(&page::reply(&request)).expect("JSON");
        assert_eq!([&reply["error"], &reply["verdict"]["why"]], [&Value::Null; 2]);
        assert_eq!([&reply["verdict"]["status"], &reply["verdict"]["n_tried"]], [&json!("passed"), &json!(1)]);
        assert_eq!((&reply["explained"]["right"], &reply["map"]["wrong"]), (&json!(true), &json!([])));
        let request: Value = serde_json::from_str(&request).expect("JSON");
        let lines = reply["explained"]["lines"].as_array().expect("lines");
        assert!(lines.iter().any(|line| line["file"] == request["name"]), "{}", request["name"]);
    }
}

#[test]
fn a_committed_kernel_with_another_launch_is_refused() {
    let maps = |a: &str, c: &str| json!(format!("M N K alpha {a} B:64x32/128 {c}"));
    let store = committed_kernels().into_iter().find(|request| request.contains("gemm_v12_store_f32"));
    let store: Value = serde_json::from_str(&store.expect("a kernel")).expect("JSON");
    for (field, value, words) in [
        ("arguments", maps("A:64x128/128", "C"), "argument 7, `C`, has 8 bytes"),
        ("arguments", maps("A:64x128/7", "C:32x64/128"), "`A:64x128/7` is no tensor map"),
        ("arguments", maps("A:64x300/128", "C:32x64/128"), "the tensor map `A:64x300/128`"),
        ("arguments", maps("", ""), "5 arguments"),
        ("entry", json!("gemm_v12_store_bf16"), "its C is not FP32"),
        ("entry", json!("nothing"), "has no kernel `nothing`"),
        ("entry", json!("sgemm_v12_six_bf16"), "splits its operands"),
    ] {
        let mut request = store.clone();
        request["committed"][field] = value;
        let reply = page::reply(&request.to_string());
        assert!(reply.contains(words), "{words}: {reply}");
    }
}

#[test]
fn a_request_that_is_too_large_or_no_request_is_an_error() {
    let (task, source) = v02();
    for (request, words) in [
        (request(&task, &source, [512; 3]), "512x512x512"),
        (request(&task, &source, [0, 1, 1]), "0x1x1"),
        ("{".to_owned(), "not understood"),
    ] {
        let reply: Value = serde_json::from_str(&page::reply(&request)).expect("JSON");
        assert!(reply["error"].as_str().is_some_and(|error| error.contains(words)), "{reply}");
    }
}

const SCALE: &str = "__global__ void scale(const float* in, float* out, int n, float by) {\n\
    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = by * in[i];\n}\n";

/// Returns the request of a launch of 2 blocks of 32 threads, with fields that replace those of the launch.
fn own_launch(source: &str, change: Value) -> String {
    let buffer = |holds: &str| json!({"element": "float", "length": 40, "holds": holds, "value": 7});
    let mut launch = json!({
        "grid": [2, 1, 1], "block": [32, 1, 1], "dynamic_shared": 0, "numbers": [40, 0.5], "shown": 1,
        "buffers": [buffer("index"), buffer("constant")],
    });
    let fields = change.as_object().expect("fields").iter();
    launch.as_object_mut().expect("fields").extend(fields.map(|(name, value)| (name.clone(), value.clone())));
    let mut request: Value = serde_json::from_str(&request(&v02().0, source, [1; 3])).expect("a request");
    request["launch"] = launch;
    request.to_string()
}

fn launched(source: &str, change: Value) -> Value {
    serde_json::from_str(&page::reply(&own_launch(source, change))).expect("JSON")
}

#[test]
fn a_launch_of_the_reader_shows_a_buffer_and_counts() {
    let reply = launched(SCALE, json!({}));
    let launched = &reply["launched"];
    assert_eq!((&launched["kernel"], &launched["findings"]), (&json!("scale"), &json!([])), "{reply}");
    let halves: Vec<String> = (0..40u8).map(|i| (f32::from(i) * 0.5).to_string()).collect();
    assert_eq!(launched["shown"], json!(halves));
    assert!(launched["lines"].as_array().expect("lines").iter().any(|line| line["line"] == 3), "{launched}");
    assert_eq!(reply["verdict"], Value::Null);
}

#[test]
fn a_launch_of_the_reader_is_checked() {
    let findings = |source: &str, change| launched(source, change)["launched"]["findings"].clone();
    assert_eq!(findings(SCALE, json!({"numbers": [41, 1]}))[0]["code"], "E-OOB");
    assert_eq!(findings(&SCALE.replace("[i] =", "[0] ="), json!({}))[0]["code"], "E-RACE");
    assert_eq!(findings(&SCALE.replace("if (i < n)", "while (n > 0)"), json!({}))[0]["code"], "E-LOOP");
    assert_eq!(findings(SCALE, json!({"block": [2048, 1, 1]}))[0]["severity"], "error");
}

#[test]
fn a_launch_that_is_too_large_or_does_not_fit_is_refused_in_words() {
    let buffer = |length: u32| json!({"element": "int", "length": length, "holds": "random"});
    for (change, words) in [
        (json!({"grid": [1 << 20, 1 << 20, 1 << 20]}), "choose another grid"),
        (json!({"buffers": [buffer(1 << 20)]}), "1048576 elements"),
        (json!({"buffers": [buffer(1), buffer(1), buffer(1), buffer(1), buffer(1)]}), "has 5 buffers"),
        (json!({"shown": 2}), "no buffer 3 to show"),
        (json!({"numbers": [1]}), "scale takes (a pointer, a pointer, an int, a float)"),
        (json!({"grid": [0, 1, 1]}), "between 1"),
    ] {
        let reply = launched(SCALE, change);
        assert!(reply["error"].as_str().is_some_and(|error| error.contains(words)), "{words}: {reply}");
    }
}

/// Replies of the module, as Node runs it: a line for each request.
const RUN: &str = r#"
const { readFileSync } = require("fs");
const bytes = (address, n) => new Uint8Array(module.exports.memory.buffer, address, n);
const module_ = new WebAssembly.Module(readFileSync(process.argv[1]));
const module = new WebAssembly.Instance(module_);
const requests = readFileSync(0, "utf8").trimEnd().split("\n");
process.stdout.write(requests.map((request) => {
    const text = Buffer.from(request);
    const address = module.exports.allocate(text.length);
    bytes(address, text.length).set(text);
    const reply = module.exports.run(address, text.length);
    const length = new DataView(module.exports.memory.buffer).getUint32(reply >>> 0, true);
    return Buffer.from(bytes((reply >>> 0) + 4, length)).toString() + "\n";
}).join(""));
"#;

/// Returns the reason why a module cannot be compared with this build.
fn missing(module: &Path) -> Option<String> {
    let is_older = |source: &Path| {
        let time = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        time(source) > time(module)
    };
    // The compiler lists the sources after a colon.
    let list = std::fs::read_to_string(root().join("target/page/wasm32-unknown-unknown/page/page.d"));
    match list.as_deref().ok().and_then(|list| list.split_once(": ")) {
        _ if !module.is_file() => Some("there is no module; build it with: cargo xtask page".to_owned()),
        None => Some("there is no list of its sources; build it with: cargo xtask page".to_owned()),
        Some((_, sources)) => sources
            .split_whitespace()
            .find(|path| is_older(Path::new(path)))
            .map(|source| format!("{source} is newer than the module; build it again with: cargo xtask page")),
    }
}

#[track_caller]
fn check_module(name: &str, requests: &[String]) {
    let module = root().join("target/page").join(name);
    let node = all_on_path("node").into_iter().next();
    if let Some(missing) = missing(&module).or(node.is_none().then(|| "there is no node".to_owned())) {
        println!("not run: {missing}");
        return;
    }
    let mut node = Command::new(node.expect("it was found"));
    node.args(["-e", RUN]).arg(module).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().expect("node starts");
    let mut input = node.stdin.take().expect("a pipe");
    input.write_all((requests.join("\n") + "\n").as_bytes()).expect("node reads");
    drop(input);
    let replies = String::from_utf8(node.wait_with_output().expect("node ends").stdout).expect("JSON");
    assert_eq!(replies.lines().count(), requests.len());
    for (request, reply) in requests.iter().zip(replies.lines()) {
        let native = page::reply(request);
        let same = native.bytes().zip(reply.bytes()).take_while(|(native, module)| native == module).count();
        let [native_rest, rest] = [&native, reply].map(|reply| String::from_utf8_lossy(&reply.as_bytes()[same..]));
        assert_eq!(native_rest, rest, "after {}, of {request}", &native[same.saturating_sub(200)..same]);
    }
}

#[test]
fn the_module_replies_as_the_native_build_does() {
    let mut requests = Vec::new();
    for step in ["v01", "v02", "v03", "v04", "v05", "v06", "v07", "v08"] {
        let catalogue = Catalogue::load(root(), step).expect("a catalogue");
        let kernels = catalogue.tasks.iter().filter(|task| task.host.is_none());
        requests.extend(kernels.map(|task| request(task, &read(&task.solution), [65, 33, 40])));
        let wrong = solutions::load(root(), step).expect("solutions").into_iter();
        let wrong = wrong.filter(|solution| !solution.expect.is_empty()).skip(5).step_by(10);
        requests.extend(wrong.map(|solution| request(&solution.task, &solution.source, [64; 3])));
    }
    requests.push(own_launch(SCALE, json!({})));
    requests.push(follow(&v02().0, &v02().1));
    check_module("page.wasm", &requests);
}

#[test]
fn the_module_of_tensor_cores_replies_as_the_native_build_does() {
    check_module("tensor.wasm", &committed_kernels());
}
