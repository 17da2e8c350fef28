//! The ladder's kernels as machine code: what they compute, and what Nsight Compute counted of them.
//!
//! `kernels/cubin` has what NVRTC makes of the sources: what ptxas makes of the committed PTX.

use std::collections::HashMap;
use std::fmt::Debug;
use std::fs;

use catalog::{STEPS, Shape, Work};
use counters::Counters;
use records::profile::{Counted, Profile, SHAPES};
use simt::launch::{CheckLevel, LaunchOptions};
use simt::module::Module;
use tests::conformance::{Fixture, answers_in, difference, emulate_machine_code, fixtures, read_code};
use tests::gpu::{Argument, Geometry, Gpu, Value, clean, options, texts};
use tests::recorded::{
    arguments, columns_of_maps, count_of_rows, kernel, load, machine_code, profiles, sizes_and_elements,
};
use tests::{hostile, read, root};

use super::counters::SLOW;

/// Counters that differ, with the reasons.
const DIFFERENCES: &str = include_str!("machine_code.txt");

/// Returns the counters that are neither the hardware's nor listed with a reason.
fn complaints(profile: &Profile) -> Vec<String> {
    let gpu = Gpu::with_memory(1 << 32);
    let module = machine_code(&gpu, kernel(&profile.kernel));
    let counters = count_of_rows(&gpu, &module, profile);
    let counted = Counted::new(profile, &counters).expect("all metrics");
    let is_tensor = matches!(kernel(&profile.kernel).work, Work::Tensor { .. });
    let compared = counted.compared().into_iter().filter_map(|one| {
        // The driver made other machine code of the PTX, and some counters are of other things.
        if is_tensor && records::profile::reason(&profile.kernel, one.pair.name).is_some() {
            return None;
        }
        let counter = format!("{} {} {} ", profile.kernel, profile.shape.m, one.pair.name);
        let more = DIFFERENCES.lines().find_map(|row| row.strip_prefix(&counter));
        let expected = one.theirs as i64 + more.map_or(0, |more| more.parse().expect("a number"));
        (one.ours as i64 != expected).then(|| format!("{counter}is {}, and not {expected}", one.ours))
    });
    compared.collect()
}

/// Checks the records on one of [`SHAPES`]; of products on the smallest two only, of slow kernels on the smallest.
fn check_all(shape: usize) {
    let profiles = profiles();
    let of_shape = profiles
        .filter(|profile| profile.shape.m == SHAPES[shape].m)
        .filter(|profile| columns_of_maps(&profile.kernel).is_none());
    let quick = |profile: &&Profile| match shape {
        0 => kernel(&profile.kernel).work == Work::Transpose,
        1 => !SLOW.contains(&profile.step.as_str()),
        _ => true,
    };
    let wrong: Vec<String> = of_shape.filter(quick).flat_map(complaints).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn counters_of_large_matrices_are_the_hardwares() {
    check_all(0);
}

#[test]
fn counters_of_ragged_matrices_are_the_hardwares() {
    check_all(1);
}

#[test]
fn counters_of_prime_matrices_are_the_hardwares() {
    check_all(2);
}

/// Returns the elements that are different, and the same each time.
pub(super) fn numbers(n: usize, seed: u32) -> Vec<f32> {
    pseudorandom(seed).map(|word| (word >> 8) as f32 / (1 << 24) as f32 - 0.5).take(n).collect()
}

/// Returns the words of a linear congruential generator.
fn pseudorandom(seed: u32) -> impl Iterator<Item = u32> {
    let next = |word: &u32| Some(word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), next).skip(1)
}

fn result<T: Value>(gpu: &Gpu, module: &Module, name: &str, convert: impl Fn(f32) -> T) -> Vec<T> {
    let kernel = kernel(name);
    let profiles = profiles();
    let profile = { profiles }.find(|profile| profile.kernel == name);
    let profile = profile.unwrap_or_else(|| panic!("{name} has no counters on record; see: cargo xtask tidy"));
    let (m, n, k) = (93, 95, 97);
    let (sizes, elements) = sizes_and_elements(kernel, Shape { m, n, k });
    let operands: Vec<u64> = elements
        .iter()
        .zip(1..)
        .map(|(&n, seed)| gpu.upload(&numbers(n, seed).into_iter().map(&convert).collect::<Vec<T>>()))
        .collect();
    let arguments = arguments(module, name, &sizes, &operands);
    // The record is of a matrix of 1024 rows and columns; a tile is as large as there.
    assert_eq!(profile.shape.m, SHAPES[0].m);
    let blocks = |n: usize, recorded: u32| (n as u32 * recorded).div_ceil(SHAPES[0].m as u32);
    let [x, y, z] = profile.grid;
    let shape = Geometry {
        grid: match kernel.work {
            Work::Transpose => profile.grid,
            _ => [blocks(n, x), blocks(m, y), z],
        },
        block: profile.block,
        dynamic_shared: profile.dynamic_shared,
    };
    gpu.run(module, name, shape, &arguments);
    let [.., last] = operands[..] else { panic!("{name} has no operands") };
    gpu.read(last, m * n)
}

#[test]
fn machine_code_computes_what_ptx_does() {
    for kernel in STEPS.iter().flat_map(|step| step.kernels) {
        // `machine_tensor`, `hopper` and `asynchronous` have those.
        let is_elsewhere = matches!(kernel.work, Work::Tensor { .. }) || columns_of_maps(kernel.name).is_some();
        if kernel.source.is_none() || is_elsewhere {
            continue;
        }
        let gpu = Gpu::with_memory(1 << 30);
        let (code, ptx) = (machine_code(&gpu, kernel), load(&gpu, kernel));
        if kernel.work == Work::Dgemm {
            let bits = |module| result(&gpu, module, kernel.name, f64::from).into_iter().map(f64::to_bits);
            assert!(bits(&code).eq(bits(&ptx)), "{}", kernel.name);
        } else {
            let bits = |module| result(&gpu, module, kernel.name, |x| x).into_iter().map(f32::to_bits);
            assert!(bits(&code).eq(bits(&ptx)), "{}", kernel.name);
        }
    }
}

/// Forms of PTX as machine code give what an H200 answered to the same kernels: `tests/data/machine/conformance.z`.
#[test]
fn machine_code_of_every_form_answers_as_hardware_does() {
    let data = root().join("tests/data");
    let hardware = answers_in(&data.join("conformance")).expect("answers");
    let list = fixtures();
    let by_name: HashMap<&str, &Fixture> = list.iter().map(|f| (f.name.as_str(), f)).collect();
    let modules = fs::read(data.join("machine/conformance.z")).expect("machine code");
    let modules = read_code(&modules).expect("modules");
    let (mut n, mut bad) = (0, Vec::new());
    for (names, cubin) in &modules {
        let members: Option<Vec<&Fixture>> = names.iter().map(|name| by_name.get(name.as_str()).copied()).collect();
        let members = members.unwrap_or_else(|| {
            panic!("a fixture of {names:?} is gone: cargo run -p tests --example machine_conformance -- PTXAS --save")
        });
        let answers = emulate_machine_code(&members, cubin).unwrap_or_else(|error| panic!("{names:?}: {error}"));
        for (fixture, ours) in members.into_iter().zip(answers) {
            n += 1;
            let complaint = match (&hardware[&fixture.name], ours) {
                (Ok(hardware), Ok(ours)) => difference(fixture, hardware, &ours),
                (_, Err(why)) => Some(why),
                (Err(why), _) => Some(format!("hardware: {why}")),
            };
            bad.extend(complaint.map(|complaint| format!("{}: {complaint}", fixture.name)));
        }
    }
    assert!(bad.is_empty(), "{} of {n}:\n{}", bad.len(), bad.join("\n"));
    assert!(n > 7000, "{n}");
}

/// Damaged machine code is refused, or runs and ends within its budget, on any number of threads.
#[test]
fn damaged_machine_code_is_refused_or_ends() {
    let (mut loaded, mut ended) = (0, 0);
    for seed in 0..200 {
        let gpu = Gpu::with_memory(1 << 26);
        let Ok(code) = sass::Module::read(&hostile::cubin(seed)) else { continue };
        let Ok(module) = Module::load_machine_code(&gpu.memory, &code, None) else { continue };
        loaded += 1;
        let buffer = gpu.upload(&[1.0f32; 1 << 14]);
        for kernel in module.kernels() {
            let mut params = vec![0; kernel.kernel().param_bytes as usize];
            for param in &kernel.kernel().params {
                let value = if param.bytes == 8 { buffer } else { 37 };
                let bytes = value.to_le_bytes();
                let n = bytes.len().min(param.bytes as usize);
                params[param.offset as usize..][..n].copy_from_slice(&bytes[..n]);
            }
            let check_level = [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked][seed as usize % 3];
            let options = options(check_level, 1 << 20, 1 + seed as usize % 3);
            let shape = Geometry { grid: [2, 2, 1], block: [16, 16, 1], dynamic_shared: 0 };
            ended += usize::from(gpu.launch_raw(kernel, shape, params, options).is_ok());
        }
    }
    assert!(loaded > 20 && ended > 20, "{loaded} loaded, {ended} ended");
}

/// Loads `CODE.z` and `TEXT.ptx` of `tests/data/machine`.
fn load_both(gpu: &Gpu, text: &str, code: &str) -> [Module; 2] {
    let text = read(format!("tests/data/machine/{text}.ptx"));
    let packed = fs::read(root().join(format!("tests/data/machine/{code}.z"))).expect("committed machine code");
    let cubin = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("compressed");
    let code = sass::Module::read(&cubin).unwrap_or_else(|error| panic!("{error}"));
    let code = Module::load_machine_code(&gpu.memory, &code, None).unwrap_or_else(|error| panic!("{error}"));
    [code, gpu.load(&text).expect("committed PTX loads")]
}

/// Runs kernels on the same bits as PTX and as machine code, of [`load_both`].
/// Both leave the same, and `count` takes the same from their counters.
fn check_cases<T: PartialEq + Debug>(text: &str, code: &str, count: impl Fn(&Counters) -> T) {
    let gpu = Gpu::with_memory(1 << 26);
    let [code, ptx] = load_both(&gpu, text, code);
    let inputs: Vec<u32> = pseudorandom(1).map(|word| word ^ word >> 15).take(1 << 15).collect();
    assert_eq!(code.kernels().len(), ptx.kernels().len());
    for kernel in ptx.kernels() {
        let name = &kernel.kernel().name;
        let run = |module: &Module| {
            let buffer = gpu.upload(&inputs);
            let arguments = kernel.kernel().params.iter().map(|param| match param.bytes {
                8 => Argument::from(buffer),
                n => Argument((0..n).map(|byte| (200 + byte) as u8).collect()),
            });
            let options = LaunchOptions { check_level: CheckLevel::Count, ..LaunchOptions::default() };
            let arguments: Vec<Argument> = arguments.collect();
            let blocks = kernel.kernel().cluster.required.map_or(1, |[x, ..]| 2 * x);
            let report = gpu.launch(module, name, Geometry::line(blocks, 128), &arguments, options);
            let report = report.and_then(clean).unwrap_or_else(|refused| panic!("{name}: {refused}"));
            (gpu.read::<u32>(buffer, inputs.len()), count(&report.total))
        };
        let ((ours, our_count), (want, count)) = (run(&code), run(&ptx));
        let differs = ours.iter().zip(&want).position(|(ours, want)| ours != want);
        assert_eq!(differs, None, "{name}");
        // Kernels without the buffer trap where they compute something else.
        assert_eq!(want == inputs, kernel.kernel().params.iter().all(|param| param.bytes != 8), "{name}");
        assert_eq!(our_count, count, "{name}");
    }
}

/// Kernels whose machine code once gave other results than their PTX, optimised and not.
#[test]
fn machine_code_of_cases_computes_what_ptx_does() {
    check_cases("cases", "cases", |_| ());
    check_cases("cases", "cases_O0", |_| ());
    check_cases("alloca", "alloca", |_| ());
}

/// Lanes that diverge in a loop, and functions that it calls, hide from neither that it never ends.
#[test]
fn endless_loops_are_found_in_machine_code_as_in_ptx() {
    let gpu = Gpu::with_memory(1 << 20);
    for module in load_both(&gpu, "loops", "loops") {
        for kernel in module.kernels() {
            let name = &kernel.kernel().name;
            let arguments = [gpu.upload(&[0u32; 1 << 10]).into()];
            let options = options(CheckLevel::Off, 1 << 60, 1);
            let report = gpu.launch(&module, name, Geometry::line(1, 128), &arguments, options).expect("a launch");
            let text = texts(&report.findings);
            assert!(text.contains("this loop never ends"), "{name}: {text}");
        }
    }
}

/// Products of all shapes and types of `IMMA`, sparse and not, of `BMMA` and sparse `HMMA`, and roundings of `DMMA`.
#[test]
fn integers_and_sparse_tiles_multiply_as_machine_code_as_they_do_as_ptx() {
    check_cases("integers", "integers", |counters| counters.tensor_products);
}

/// Products of warpgroups of all types, with signs and transposed factors; barriers in shared memory, copies of bytes,
/// lanes that are chosen.
#[test]
fn warpgroups_and_barriers_compute_as_machine_code_what_they_do_as_ptx() {
    check_cases("asynchronous", "asynchronous", |counters| counters.tensor_products);
}

/// Products of all shapes and types of `HMMA` and `DMMA`, and all forms of `LDSM`, `STSM` and `MOVM`.
#[test]
fn tensor_cores_compute_as_machine_code_what_they_do_as_ptx() {
    check_cases("tensor", "tensor", |counters| {
        [
            counters.tensor_products,
            counters.shared_load_requests,
            counters.shared_load_wavefronts,
            counters.shared_load_ideal,
            counters.shared_load_bytes,
            counters.shared_store_wavefronts,
        ]
    });
}
