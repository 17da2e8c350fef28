//! Modules and launches that exceed a limit: each ends in a message, and counts stay within their bounds.

mod common;

use std::fmt::Write;

use common::{Device, codes, header};
use program::limits::{self, Account};
use simt::gpu::{Geometry, Gpu};
use simt::launch::{CheckLevel, LaunchOptions, LaunchRefused};
use simt::module::Module;

/// Returns a device with so much memory, on which a text is loaded.
fn load(bytes: u64, ptx: &str) -> (Gpu, Result<Module, String>) {
    let gpu = Gpu::with_memory(bytes);
    let module = gpu.load(&format!("{}{ptx}", header()));
    (gpu, module.map_err(|error| error.to_string()))
}

/// Asserts that a text is refused, with these words.
#[track_caller]
fn refused(bytes: u64, ptx: &str, words: &str) {
    let (gpu, module) = load(bytes, ptx);
    match module {
        Ok(_) => panic!("it loads"),
        Err(error) => assert!(error.contains(words), "{}", &error[..error.len().min(500)]),
    }
    assert_eq!(gpu.memory.used(), 0);
}

/// Returns a module with `n` kernels, which each call one function with this body.
fn callers(n: usize, body: &str) -> String {
    let mut text = format!(".func f() {{ .reg .b32 %r<9>;\n{body}ret; }}\n");
    for i in 0..n {
        let _ = writeln!(text, ".entry k{i}() {{ call f; ret; }}");
    }
    text
}

#[test]
fn an_initialiser_takes_the_bytes_that_are_written() {
    let text = ".global .b8 g[2147483648] = {1};\n.global .b32 h[1000000000] = {0};\n\
                .global .b32 m[2][500000000] = {{1, 2}, {3}};\n";
    refused(1 << 30, text, "no memory for variable `g`");
    let (gpu, module) = load(12 << 30, text);
    let module = module.expect("it loads");
    let m = module.variable("m").expect("it is there").address;
    assert_eq!(gpu.read::<u32>(m + 2_000_000_000, 1), [3]);
    drop(module);
    assert_eq!(gpu.memory.used(), 0);
}

#[test]
fn operations_of_a_module_are_counted_before_they_are_made() {
    let body = "add.s32 %r1, %r1, 1;\n".repeat(1000);
    let text = callers(50, &body);
    refused_within(&Account::with_limits(1 << 30, 20_000, u64::MAX), &text, "operations, with their functions inlined");
    refused_within(&Account::new(4 << 20), &text, "its code takes more than");
    assert!(load(1 << 30, &text).1.is_ok());
}

#[test]
fn statements_without_operations_count_too() {
    for statement in [".loc 1 2 3\n", "{ .reg .b32 %q; }\n"] {
        let text = callers(50, &statement.repeat(1000));
        refused_within(&Account::with_limits(1 << 30, u64::MAX, 20_000), &text, "steps");
        assert!(load(1 << 30, &text).1.is_ok());
    }
}

#[test]
fn long_names_count_where_they_are_copied() {
    let name = "a".repeat(1 << 20);
    let text = format!(".shared .b32 {name};\n{}", callers(200, &format!("mov.u32 %r1, {name};\n")));
    refused(64 << 20, &text, "its code takes more than");
    let variables: String = (0..200).map(|i| format!(".global .b32 v{i};\n")).collect();
    refused(64 << 20, &format!(".func {name}() {{ {variables} ret; }}"), "its code takes more than");
}

fn steps(ptx: &str) -> u64 {
    let account = Account::default();
    decoded(ptx, &account).expect("it decodes");
    account.steps_taken()
}

fn decoded(ptx: &str, account: &Account) -> Result<program::Program, String> {
    let module = ptx::parse(&format!("{}{ptx}", header())).expect("it is PTX");
    let level = arithmetic::lanes::CpuLevel::Baseline;
    let program = decode::decode(&module, &decode::Symbols::new(), level, account);
    program.map_err(|error| error.to_string())
}

/// Asserts that a text is refused by these limits, which are reached sooner than those of a module.
#[track_caller]
fn refused_within(account: &Account, ptx: &str, words: &str) {
    let error = decoded(ptx, account).expect_err("it decodes");
    assert!(error.contains(words), "{}", &error[..error.len().min(500)]);
}

#[test]
fn kernels_do_not_pay_for_what_others_declare() {
    let kernels = |n: usize| -> String { (0..n).map(|i| format!(".entry k{i}() {{ ret; }}\n")).collect() };
    let shared: String = (0..5000).map(|i| format!(".shared .b32 s{i};\n")).collect();
    let (few, many) = (steps(&kernels(5000)), steps(&(shared + &kernels(5000))));
    assert_eq!(few, many);
    assert!(few < 200 * 5000);
}

#[test]
fn a_text_is_no_larger_than_its_tree_may_be() {
    let text = format!("{}.entry k() {{ {} }}", header(), "ret;".repeat(100_000));
    assert!(ptx::parse_within(&text, 1 << 30).is_ok());
    let error = ptx::parse_within(&text, 1 << 20).expect_err("it is too large");
    assert!(error.message.contains("more than the 1048576 bytes"), "{error}");
    // Several share one allowance.
    let mut left = 80 << 20;
    assert!(ptx::parse_from(&text, &mut left).is_ok());
    assert!((30 << 20..32 << 20).contains(&left), "{left}");
    assert!(ptx::parse_from(&text, &mut left).is_err());
    assert_eq!(left, 0);
}

#[test]
fn a_shared_variable_is_no_vector_and_no_predicate() {
    let kernel = |line: &str| format!(".shared .b32 b;\n.entry k() {{\n.reg .b32 %r;\n{line}\nret;\n}}\n");
    refused(1 << 30, &kernel("mov.u32 %r, b.x;"), "line 7, column 1: `b` is not a vector");
    refused(1 << 30, &kernel("@b mov.u32 %r, 1;"), "line 7, column 1: `b` is not a predicate");
}

#[test]
fn variables_of_one_declaration_have_places_of_their_own() {
    let kernel = "  .reg .b32 %a, %b; .reg .b64 %out; .shared .b32 c, d;
        st.shared.u32 [x], 1; st.shared.u32 [y], 2; st.shared.u32 [c], 4; st.shared.u32 [d], 8;
        ld.shared.u32 %a, [x]; ld.shared.u32 %b, [y]; mad.lo.u32 %a, %b, 16, %a;
        ld.shared.u32 %b, [c]; mad.lo.u32 %a, %b, 256, %a; ld.shared.u32 %b, [d]; mad.lo.u32 %a, %b, 4096, %a;
        ld.param.u64 %out, [p]; st.global.u32 [%out], %a; ret;";
    let device = Device::new(&format!(".shared .b32 x, y;\n.entry k(.param .u64 p) {{\n{kernel}\n}}\n"));
    let out = device.words(&[0]);
    device.run(1, 1, &[out.into()]);
    assert_eq!(device.read(out, 1), [0x8421]);
}

/// Block `i` waits until block `i + 1` has set its flag.
const CHAIN: &str = include_str!("ptx/chain_of_blocks.ptx");

#[test]
fn a_chain_of_waiting_blocks_is_no_square() {
    let instructions = |n: u32| {
        let device = Device::new(CHAIN).check_level(CheckLevel::Count);
        let flags = device.words(&vec![0; n as usize + 1]);
        let report = device.run(n, 1, &[flags.into()]);
        assert_eq!(device.read(flags, n as usize), vec![1; n as usize]);
        report.total.thread_instructions
    };
    let (few, many) = (instructions(250), instructions(2000));
    assert!(many < 10 * few, "{few} and {many}");
}

#[test]
fn blocks_that_wait_for_ever_share_the_budget() {
    // The last block waits for a flag that no thread sets.
    let mut device = Device::new(&CHAIN.replace("@%p bra done;", ""));
    device.budget = 3_000_000;
    let flags = device.words(&[0; 501]);
    let report = device.launch_line(500, 1, &[flags.into()]);
    assert_eq!(codes(&report), ["E-LOOP"]);
}

#[test]
fn local_memory_is_looked_at_before_it_is_taken() {
    let text =
        ".entry k() { .local .b8 l[500000]; .reg .b32 %r; .reg .b64 %a; mov.u64 %a, l; st.local.u32 [%a], 1; ret; }";
    let (gpu, module) = load(1 << 28, text);
    let module = module.expect("it loads");
    let request = Geometry::line(4, 1024).request(Vec::new(), LaunchOptions::default());
    match gpu.launch(module.kernel("k").expect("it is there"), &request) {
        Err(LaunchRefused::LargeMemory { asked, room }) => {
            assert!(asked > 1024 * 500_000 && room == limits::launch_bytes(1 << 28));
        }
        other => panic!("{other:?}"),
    }
}

/// Prints the text at `%f`.
const PRINT: &str = "{ .param .b64 p0; st.param.b64 [p0], %f; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 r;
              call (r), vprintf, (p0, p1); }";

#[test]
fn what_a_launch_prints_is_cut() {
    let line = "65,".repeat(2000);
    let text = format!(include_str!("ptx/prints_much.ptx"), line = line, PRINT = PRINT);
    let device = Device::new(&text).check_level(CheckLevel::Off);
    let report = device.run(40, 32, &[]);
    assert!(report.printed.len() <= limits::LAUNCH_PRINTS + 100, "{}", report.printed.len());
    assert!(report.printed.ends_with("[further output is cut]\n"));
}

#[test]
fn a_loop_that_prints_ends_soon() {
    let text = format!(include_str!("ptx/prints_forever.ptx"), "65,".repeat(99), PRINT = PRINT);
    let mut device = Device::new(&text).check_level(CheckLevel::Off);
    device.budget = 100_000_000;
    let count = device.words(&[0]);
    let report = device.launch_line(1, 32, &[count.into()]);
    assert_eq!(codes(&report), ["E-LOOP"]);
    let rounds = device.read(count, 1)[0];
    // Where the budget ends, the loop goes on for a while: it may be seen never to end.
    assert!((300..30_000).contains(&rounds), "{rounds}");
}

#[test]
fn copies_without_a_wait_are_done_in_the_end() {
    let text = include_str!("ptx/copies_without_a_wait.ptx");
    let device = Device::new(text);
    let numbers: Vec<u32> = (0..32).collect();
    let (from, to) = (device.words(&numbers), device.words(&[0; 32]));
    device.run(1, 32, &[from.into(), to.into()]);
    assert_eq!(device.read(to, 32), numbers);
}

#[test]
fn races_past_what_is_watched_are_the_same_on_any_number_of_threads() {
    // Each pair of blocks writes 512 pages of its own: more than is watched of a block, and of all blocks.
    let text = include_str!("ptx/writes_many_pages.ptx");
    let found = |threads: usize| {
        let (gpu, module) = load(256 << 20, text);
        let mut device = Device::new(text).check_level(CheckLevel::CheckedWithGlobalRaces);
        (device.gpu, device.module) = (gpu, module.expect("it loads"));
        device.threads = threads;
        let out = device.raw(8 * 512 * 4096);
        let report = device.launch_line(16, 512, &[out.into()]);
        assert_eq!(codes(&report), ["E-RACE"]);
        let group = &report.mistakes.groups[0];
        (group.first.clone(), group.n_threads, group.low, group.high)
    };
    let alone = found(1);
    for threads in [2, 3, 8] {
        assert_eq!(alone, found(threads), "{threads} threads");
    }
}

#[test]
fn races_are_looked_for_where_threads_load_what_others_store() {
    let codes_of = |from: &str, grid, block| {
        let text = format!(include_str!("ptx/loads_a_neighbour.ptx"), block = block, from = from);
        let device = Device::new(&text);
        codes(&device.launch_line(grid, block, &[device.words(&[7; 257]).into()]))
    };
    let neighbour = "ld.global.u32 %x, [%data+4]; bar.sync 0;";
    assert_eq!(codes_of(neighbour, 4, 64), ["E-RACE"]);
    assert_eq!(codes_of(neighbour, 1, 256), [""; 0]);
    assert_eq!(codes_of("ld.global.u32 %x, [%data+4];", 1, 256), ["E-RACE"]);
    assert_eq!(codes_of("ld.global.u32 %x, [%data];", 4, 64), [""; 0]);
}
