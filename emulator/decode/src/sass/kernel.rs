//! Decodes the kernels of a module of machine code: lowering, then the passes in their order.

use sass::instruction::{Register, Value};
use sass::operation::Operation;

use super::operand::{LineId, PARAMETERS};
use super::{SassLowering, Segments, prune};
use crate::error::{self, DecodeError, Result};
use crate::passes::finish::{alu_shape, each_target, finish_op, moves_nothing, remove_moves};
use crate::passes::{InitialRegisters, in_flight, order, registers, sync_patterns, validate};
use crate::virtual_op::TRUE;
use arithmetic::lanes::CpuLevel;
use program::limits::{Account, LOCAL_BYTES, REFUSALS, REGISTER_LINES};
use program::{
    ClusterDirectives, DeclaredArray, DecodedKernel, InFlight, OpKind, Param, Program, SHARED_BASE, SourceLoc,
};

/// Static shared memory that any device has, with opt-in.
const MAX_SHARED: u32 = 227 << 10;
const MAX_PARAMETERS: u32 = 32764;
/// Bound on the source files; instructions of further files have no line.
const FILES: usize = 1 << 12;

/// Decodes all kernels of a module for sm_90. `segments` has the contents and addresses of its constant banks.
pub fn decode(module: &sass::Module, segments: &Segments, level: CpuLevel, account: &Account) -> Result<Program> {
    if sass::Architecture::of(module.architecture) != Some(sass::Architecture::Sm90) {
        let what = format!("machine code for sm_{}; what runs is that for sm_90", module.architecture);
        return Err(error::refused(what));
    }
    let mut files: Vec<(u32, String)> = Vec::new();
    for path in module.kernels.iter().flat_map(|kernel| &kernel.files) {
        account.bytes(path.len() as u64)?;
        if files.len() < FILES && !files.iter().any(|(_, known)| known == path) {
            files.push((files.len() as u32 + 1, path.clone()));
        }
    }
    let decoded = |(number, code)| decode_kernel(code, number, segments, &files, level, account);
    let kernels = module.kernels.iter().enumerate().map(decoded).collect::<Result<_>>()?;
    Ok(Program { kernels, files })
}

/// Decodes a kernel: lowers its instructions, runs the passes, allocates registers. `files` are its numbered sources.
fn decode_kernel(
    code: &sass::CubinKernel, number: usize, segments: &Segments, files: &[(u32, String)], level: CpuLevel,
    account: &Account,
) -> Result<DecodedKernel> {
    if code.parameter_bytes > 0 && code.parameter_base != PARAMETERS {
        let what = format!("`{}` with parameters at {:#x}", code.name, code.parameter_base);
        return Err(error::refused(what));
    }
    let mut lower = SassLowering::new(code, number, segments, level, account)?;
    let starts = lower_instructions(&mut lower, code, files)?;
    refuse_registers(&lower, code)?;
    let mut ops = std::mem::take(&mut lower.ops);
    for op in &mut ops {
        each_target(&mut op.kind, &mut |target| *target = starts[*target as usize]);
    }
    let n_registers = lower.registers.classes.len();
    let special: Vec<u32> = lower.specials.values().copied().collect();
    let registers = InitialRegisters { n: n_registers, constants: &lower.constants, preset: &special };
    let by_index = order::decide_block_order(&mut ops, registers);
    let exchanges = order::find_exchanges(&ops, registers);
    sync_patterns::classify(&mut ops, n_registers, &lower.instrs);
    let too_big = || error::refused(format!("a kernel as big as `{}`", code.name));
    let live = prune::prune(&mut ops, n_registers).ok_or_else(too_big)?;
    account.steps(live.n_pairs as u64)?;
    let allocation = registers::allocate(&ops, &live, &lower.registers.classes, account)?;
    refuse_if!(allocation.n_lines > REGISTER_LINES || allocation.n_preds > u32::from(u16::MAX), too_big());
    let mut touches = in_flight::touches(&ops, &allocation.place, n_registers);
    for op in &mut ops {
        registers::rewrite(op, &allocation);
    }
    in_flight::keep(&mut touches, &ops, |op| op.first || !moves_nothing(op));
    remove_moves(&mut ops, None);
    // Compilers put `WARPGROUP.ARRIVE` where it is needed.
    let in_flight = touches.map(|touches| Box::new(InFlight { touches, unfenced: None }));

    let sass::Cluster { required, max_blocks, explicit } = code.cluster;
    let shared = static_shared_memory(code)?;
    let params = parameters(code).ok_or_else(too_big)?;
    let is_unbounded = code.frame_bytes == u32::MAX;
    let has_stack = is_unbounded || code.instructions.iter().any(|at| calls_back(at) || moves_stack(at));
    let frame_bytes = if is_unbounded { 0 } else { code.frame_bytes };
    refuse_if!(frame_bytes > LOCAL_BYTES, too_big());
    let shared_bytes = shared.as_ref().map_or(0, |shared| shared.bytes);
    let kernel = DecodedKernel {
        name: code.name.clone(),
        ops: ops.iter().map(finish_op).collect(),
        instrs: lower.instrs,
        n_lines: allocation.n_lines,
        n_preds: allocation.n_preds,
        consts: lower.constants.lines,
        shared_consts: lower.constants.shared,
        specials: allocation.specials(&lower.specials, &live),
        params,
        param_bytes: code.parameter_bytes,
        param_start: PARAMETERS,
        shared_static_bytes: shared_bytes,
        shared_dynamic_base: (SHARED_BASE + shared_bytes).next_multiple_of(16),
        shared: shared.into_iter().collect(),
        local_bytes: frame_bytes,
        has_stack,
        max_threads: code.max_threads,
        cluster: ClusterDirectives { required, max_blocks, explicit },
        by_index,
        exchanges,
        shared_subword: lower.shared_subword,
        shapes: ops.iter().map(alu_shape).collect(),
        in_flight,
        machine_code: true,
        // Machine code has none of the rest.
        ..DecodedKernel::default()
    };
    validate::validate(&kernel, &ops).map_err(DecodeError::Internal)?;
    Ok(kernel)
}

/// Refuses code that names a register which its threads don't have, at their start or later. Two of those that a cubin
/// requests are not for code: an H200 reports an illegal instruction.
fn refuse_registers(lower: &SassLowering<'_>, code: &sass::CubinKernel) -> Result<()> {
    const KEPT: u32 = 2;
    let number = |line: &LineId| if let LineId::Lane(number) = line { Some(u32::from(*number)) } else { None };
    let highest = lower.lines.keys().filter_map(number).max().unwrap_or(0);
    let asked = code.instructions.iter().filter(|instruction| instruction.operation == Operation::Usetmaxreg);
    let asked = asked.flat_map(|instruction| instruction.sources()).filter_map(|operand| match operand.value {
        Value::Immediate(registers) => Some(registers),
        _ => None,
    });
    let (name, registers) = (&code.name, asked.fold(code.registers, u32::max));
    let what =
        || format!("`{name}`, which names R{highest} and requests {registers} registers with the two for hardware");
    refuse_if!(registers > 0 && highest + KEPT >= registers, error::refused(what()));
    Ok(())
}

/// Lowers all instructions, and returns the position of the first operation of each, and of the end.
fn lower_instructions<'a>(
    lower: &mut SassLowering<'a>, code: &'a sass::CubinKernel, files: &[(u32, String)],
) -> Result<Vec<u32>> {
    let labels = lower.labels();
    let number = |path: &String| files.iter().find(|(_, known)| known == path).map(|(number, _)| *number);
    let numbers: Vec<Option<u32>> = code.files.iter().map(number).collect();
    let mut starts = Vec::with_capacity(code.instructions.len() + 1);
    let (mut refused, mut mnemonics) = (Vec::new(), Vec::new());
    for (at, instruction) in code.instructions.iter().enumerate() {
        starts.push(lower.ops.len() as u32);
        if labels[at] {
            lower.pairs.clear();
        }
        lower.begin(instruction, at as u32, source(code, &numbers, instruction.address))?;
        match lower.lower_instruction() {
            Err(DecodeError::Refused(what)) => {
                // One of each is enough.
                let mnemonic = (instruction.operation, &instruction.modifiers);
                if refused.len() < REFUSALS && !mnemonics.contains(&mnemonic) {
                    mnemonics.push(mnemonic);
                    refused.extend(what);
                }
            }
            other => other?,
        }
        lower.end()?;
    }
    refuse_if!(!refused.is_empty(), DecodeError::Refused(refused));
    // Target past the code, and of returns that follow no call.
    starts.push(lower.ops.len() as u32);
    (lower.guard, lower.negated, lower.first) = (TRUE, false, false);
    lower.emit(OpKind::Trap)?;
    Ok(starts)
}

/// Returns whether an instruction calls code before it: in each cycle of calls, one does.
fn calls_back(instruction: &sass::Instruction) -> bool {
    let target = instruction.label().filter(|_| instruction.operation == Operation::Call);
    target.is_some_and(|target| target <= instruction.address.into())
}

/// Returns whether an instruction computes the stack pointer from another register, as for an array of a variable size.
fn moves_stack(instruction: &sass::Instruction) -> bool {
    const POINTER: Value = Value::Register(Register(1));
    let is_other =
        |value| matches!(value, Value::Register(_)) && ![POINTER, Value::Register(Register::ZERO)].contains(&value);
    instruction.destinations().first().is_some_and(|operand| operand.value == POINTER)
        && instruction.sources().iter().any(|operand| is_other(operand.value))
}

/// Returns the kernel's static shared memory as one array, if it has any.
fn static_shared_memory(code: &sass::CubinKernel) -> Result<Option<DeclaredArray>> {
    let bytes = code.shared_bytes.saturating_sub(SHARED_BASE.into());
    let bytes = u32::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes <= MAX_SHARED)
        .ok_or_else(|| error::refused(format!("{bytes} bytes of static shared memory")))?;
    Ok((bytes > 0).then(|| DeclaredArray {
        name: "__shared__".to_owned(),
        offset: SHARED_BASE,
        bytes,
        align: 16,
        element: 1,
        dims: vec![bytes.into()],
    }))
}

/// Returns the kernel's parameters; `None` if they are too big.
fn parameters(code: &sass::CubinKernel) -> Option<Vec<Param>> {
    let param = |(index, param): (usize, &sass::Parameter)| Param {
        name: format!("{}_param_{index}", code.name),
        offset: param.offset,
        bytes: param.size,
        maybe_pointer: param.size == 8,
    };
    let fits = |param: &sass::Parameter| {
        let end = param.offset.checked_add(param.size);
        end.is_some_and(|end| end <= code.parameter_bytes)
    };
    let fit = code.parameters.iter().all(fits) && code.parameter_bytes <= MAX_PARAMETERS;
    fit.then(|| code.parameters.iter().enumerate().map(param).collect())
}

/// Returns the source position of an instruction; `numbers` maps the kernel's files to file numbers.
fn source(code: &sass::CubinKernel, numbers: &[Option<u32>], address: u32) -> Option<SourceLoc> {
    let found = code.line_at(address).filter(|found| found.line > 0)?;
    Some(SourceLoc { file: (*numbers.get(found.file)?)?, line: found.line, column: 0 })
}
