//! Properties of kernels in cubins beside their code.

use std::fs;
use std::path::{Path, PathBuf};

use sass::instruction::{Register, Value};
use sass::operation::Modifier;
use sass::{Architecture, Instruction, Module, Parameter, Relocation, Segment, Target};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn module(name: &str) -> Module {
    let cubin = fs::read(root().join(format!("kernels/cubin/{name}.cubin"))).expect("it is committed");
    Module::read(&cubin).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the module of a deflated cubin.
fn unpacked(name: &str) -> Module {
    let packed = fs::read(root().join(format!("tests/data/machine/{name}.z"))).expect("it is committed");
    let cubin = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("it is deflated");
    Module::read(&cubin).expect("it is a cubin")
}

#[test]
fn code_is_encoded_as_the_compiler_wrote_it() {
    let mut n = 0;
    for folder in ["kernels/cubin", "kernels/rust/cubin"] {
        for entry in fs::read_dir(root().join(folder)).expect("it is committed") {
            let path = entry.expect("a file").path();
            let cubin = fs::read(&path).expect("it is a file");
            let module = Module::read(&cubin).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for kernel in module.kernels {
                let words = kernel.instructions.iter().map(|instruction| {
                    instruction.encode().unwrap_or_else(|| panic!("{}: {instruction}", kernel.name)).to_le_bytes()
                });
                let code = words.collect::<Vec<_>>().concat();
                let is_there = cubin.windows(code.len()).any(|bytes| bytes == code);
                assert!(is_there, "{} of {} has other bits", kernel.name, path.display());
                n += kernel.instructions.len();
            }
        }
    }
    assert!(n > 150_000, "{n}");
}

/// A value that does not fit its field must not become another instruction.
#[test]
fn what_does_not_fit_is_not_encoded() {
    let word = 0x000f_e200_0000_0000_ffff_ffff_0300_7836_u128;
    let instruction = sass::decode(Architecture::Sm90, word, 0x40).expect("VIADD R0, R3, 0xffffffff");
    assert_eq!(instruction.encode(), Some(word));
    let changed = |change: &dyn Fn(&mut Instruction)| {
        let mut instruction = instruction.clone();
        change(&mut instruction);
        instruction.encode()
    };
    let other = changed(&|one| one.operands[1].value = Value::Register(Register(9)));
    assert_eq!(other, Some(word ^ (3 ^ 9) << 24));
    assert_eq!(changed(&|one| one.control.stall = 16), None);
    assert_eq!(changed(&|one| one.operands[0].negated = true), None);
    assert_eq!(changed(&|one| one.operands[0].value = Value::Immediate(1)), None);
    assert_eq!(changed(&|one| one.operands.truncate(2)), None);
    assert_eq!(changed(&|one| one.modifiers.push(Modifier::Ftz)), None);
}

/// Bytes of shared memory that the system reserves on sm_90, in front of the kernel's.
const RESERVED: u64 = 1024;

#[test]
fn registers_and_shared_memory_are_those_that_the_compiler_reported() {
    let mut n = 0;
    for entry in fs::read_dir(root().join("kernels/ptx")).expect("PTX is committed") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("PTX is text");
        let name = path.file_stem().expect("it has a name").to_string_lossy();
        let module = module(&name);
        for line in text.lines().filter_map(|line| line.strip_prefix("// sm_90: ")) {
            let (name, report) = line.split_once(": ").expect("a name and a report");
            let kernel = module.kernels.iter().find(|kernel| kernel.name == name).expect("it is in the cubin");
            let number = |unit| {
                let part = report.split(", ").find_map(|part| part.strip_suffix(unit));
                part.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0)
            };
            assert_eq!(u64::from(kernel.registers), number(" registers"), "{line}");
            assert_eq!(kernel.shared_bytes.saturating_sub(RESERVED), number(" bytes smem"), "{line}");
            assert_eq!(kernel.frame_bytes > 0, number(" bytes spilled") > 0, "{line}");
            n += 1;
        }
    }
    assert!(n > 25, "{n}");
}

#[test]
fn parameters_have_places_and_sizes() {
    let module = module("v06_outer_product");
    let [kernel] = module.kernels.as_slice() else {
        panic!("one kernel was expected");
    };
    assert_eq!((kernel.parameter_base, kernel.parameter_bytes), (0x210, 40));
    let sizes = [(0, 4), (4, 4), (8, 4), (16, 8), (24, 8), (32, 8)];
    assert_eq!(kernel.parameters, sizes.map(|(offset, size)| Parameter { offset, size }));
    assert_eq!((kernel.max_threads, kernel.barriers), (Some([256, 1, 1]), 1));
    assert_eq!(module.architecture, 90);
}

#[test]
fn a_cubin_of_cuda_13_has_the_same_attributes() {
    let (new, old) = (unpacked("v02_shared.cuda_13"), module("v02_shared"));
    assert_eq!((new.architecture, new.kernels.len()), (90, old.kernels.len()));
    for kernel in &new.kernels {
        let name = &kernel.name;
        let same = old.kernels.iter().find(|other| other.name == *name);
        let same = same.unwrap_or_else(|| panic!("{name} is in both"));
        assert_eq!(kernel.registers, same.registers, "{name}");
        assert_eq!(kernel.shared_bytes, same.shared_bytes, "{name}");
        assert_eq!(kernel.frame_bytes, same.frame_bytes, "{name}");
        assert_eq!((kernel.max_threads, kernel.barriers), (same.max_threads, same.barriers), "{name}");
        assert_eq!(kernel.parameter_base, same.parameter_base, "{name}");
        assert_eq!(kernel.parameter_bytes, same.parameter_bytes, "{name}");
        assert_eq!(kernel.parameters, same.parameters, "{name}");
        assert!(!kernel.lines.is_empty(), "{name}");
    }
}

#[test]
fn instructions_have_lines_of_the_source() {
    let module = module("v01_row_per_lane");
    let source = fs::read_to_string(root().join("kernels/v01_row_per_lane.cu")).expect("it is committed");
    let lines: Vec<&str> = source.lines().collect();
    let mut n = 0;
    for kernel in &module.kernels {
        for instruction in kernel.instructions.iter().filter(|i| i.operation.name() == "FFMA") {
            let (file, line) = kernel.line(instruction.address).expect("it has a line");
            assert_eq!(file, "kernels/v01_row_per_lane.cu");
            assert!(lines[line as usize - 1].contains("+=") || lines[line as usize - 1].contains('*'), "{line}");
            n += 1;
        }
    }
    assert!(n > 0);
}

#[test]
fn what_is_inlined_has_the_lines_of_its_calls() {
    let module = module("v05_bank_conflict_free");
    let [kernel] = module.kernels.as_slice() else {
        panic!("one kernel was expected");
    };
    let own = "kernels/v05_bank_conflict_free.cu";
    let source = fs::read_to_string(root().join(own)).expect("it is committed");
    let text = |line: u32| source.lines().nth(line as usize - 1).unwrap_or_default();
    let mut calls = Vec::new();
    for instruction in kernel.instructions.iter().filter(|i| i.operation.name() == "LDG") {
        let lines: Vec<(&str, u32)> = kernel.inlined_lines(instruction.address).collect();
        let [(first, _), .., (last, line)] = lines.as_slice() else {
            panic!("{instruction} is not inlined: {lines:?}");
        };
        assert_eq!((*first, *last), ("kernels/common.cuh", own));
        assert!(text(*line).contains("load4_or_zero("), "{line}");
        calls.push(*line);
    }
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(calls.len(), 2);
    assert_eq!(kernel.inlined_lines(0).count(), 1);
}

/// Checks the variables and relocations of `v02_shared`.
#[track_caller]
fn check_variables(module: &Module) {
    let names: Vec<&str> = module.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["WARP_SIZE", "WIDTH"]);
    assert_eq!(module.initialised, [32, 0, 0, 0, 4, 0, 0, 0]);
    let address = |offset, to| Relocation {
        segment: Segment::Addresses,
        offset,
        target: Target::Inside { segment: Segment::Initialised, offset: to },
        addend: 0,
    };
    let mut found = module.relocations.clone();
    found.sort_by_key(|relocation| relocation.offset);
    assert_eq!(found, [address(0, 0), address(8, 4)]);
}

#[test]
fn constants_of_the_source_are_variables_with_relocations() {
    check_variables(&module("v02_shared"));
}

/// Before sm_90, addends are in place, parameters elsewhere, and no shared memory is reserved.
#[test]
fn cubins_for_older_gpus_say_the_same_in_their_way() {
    for sm in [75, 80] {
        let module = unpacked(&format!("v02_shared.sm_{sm}"));
        assert_eq!(module.architecture, sm);
        check_variables(&module);
        let kernel = module.kernels.iter().find(|kernel| kernel.name == "sgemm_v02_tile16");
        let kernel = kernel.expect("it is in the file");
        assert_eq!((kernel.parameter_base, kernel.parameter_bytes), (0x160, 40));
        assert_eq!(kernel.shared_bytes, 2048);
        assert_eq!(kernel.line(0).map(|(file, _)| file), Some("kernels/v02_shared.cu"));
    }
}
