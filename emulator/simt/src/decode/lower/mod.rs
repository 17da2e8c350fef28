//! Lowering: from the statements of a kernel, and of the functions that it calls, to virtual operations.
//!
//! Every instruction becomes at least one operation; one file per family. Device functions are inlined at
//! each call.

mod address;
mod alu;
mod atomic;
mod call;
mod control;
mod copy;
mod memory;
mod moves;
mod operand;
mod params;
mod special;
mod text;
mod texture;
mod warp;

use std::collections::{BTreeMap, HashMap};

use ptx::Span;
use ptx::ast::{Function, Instruction, Space, Statement, Variable};

use super::constants::Constants;
use super::error::{DecodeError, Result, invalid, unsupported};
use super::index::{Index, MAX_DEPTH, align_of, size_of};
use super::layout::SharedLayout;
use super::names::{Binding, Reg, Registers, Scope};
use super::variables::{Symbols, local_name};
use super::virt::{AluClasses, Role, Rule, TRUE, VirtualOp, operands};
use crate::alu::{Builtin, Form, builtin};
use crate::lanes::{AluArgs, Class, CpuLevel, NONE, Src};
use crate::program::{InstrInfo, OpKind, SharedArray, SourceLoc, Special};

/// Largest kernel, in operations, with everything inlined.
pub(super) const MAX_OPS: usize = 1 << 20;
/// Local memory that a thread can have.
const MAX_LOCAL: u64 = 512 << 10;
/// Unsupported things that are told at once.
const MAX_REFUSALS: usize = 50;

/// A kernel on its way.
pub(super) struct Lower<'a> {
    pub(super) index: &'a Index<'a>,
    pub(super) symbols: &'a Symbols,
    pub(super) level: CpuLevel,
    pub(super) shared: &'a SharedLayout,

    pub(super) ops: Vec<VirtualOp>,
    pub(super) registers: Registers,
    pub(super) constants: Constants,
    pub(super) instrs: Vec<InstrInfo>,
    /// Start of each instruction's text, in step with `instrs`.
    pub(super) starts: Vec<u32>,
    /// Position of each label; `u32::MAX` until it is met.
    pub(super) labels: Vec<u32>,
    pub(super) specials: BTreeMap<SpecialKey, u32>,
    pub(super) local: Vec<SharedArray>,
    pub(super) local_bytes: u32,
    pub(super) shared_subword: bool,
    pub(super) refused: Vec<ptx::Unsupported>,

    scopes: Vec<Scope<'a>>,
    instr_of: HashMap<u32, u32>,
    /// Top of the frame of the function being lowered.
    frame: u32,
    /// Names of parameters that need an address, of the function being lowered.
    addressed: HashMap<&'a str, params::Parts>,
    function: &'a str,
    /// Where `ret` goes; none in the kernel itself.
    return_label: Option<u32>,
    depth: usize,
    /// Blocks open inside the function being lowered.
    depth_in_function: usize,
    loc: Option<SourceLoc>,
    carry: Option<u32>,
    /// Branch targets of all `brx.idx` so far.
    n_targets: usize,

    // The instruction being lowered.
    guard: u32,
    negated: bool,
    instr: u32,
    first: bool,
    span: Span,
    /// Of the next operation.
    rule: Rule,
}

/// [`Special`] has no order of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpecialKey(pub(super) Special);

impl Ord for SpecialKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0 as u8).cmp(&(other.0 as u8))
    }
}

impl PartialOrd for SpecialKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Lower<'a> {
    pub(super) fn new(
        index: &'a Index<'a>,
        symbols: &'a Symbols,
        level: CpuLevel,
        shared: &'a SharedLayout,
    ) -> Lower<'a> {
        Lower {
            index,
            symbols,
            level,
            shared,
            ops: Vec::new(),
            registers: Registers::new(),
            constants: Constants::default(),
            instrs: Vec::new(),
            starts: Vec::new(),
            labels: Vec::new(),
            specials: BTreeMap::new(),
            local: Vec::new(),
            local_bytes: 0,
            shared_subword: false,
            refused: Vec::new(),
            scopes: Vec::new(),
            instr_of: HashMap::new(),
            frame: 0,
            addressed: HashMap::new(),
            function: "",
            return_label: None,
            depth: 0,
            depth_in_function: 0,
            loc: None,
            carry: None,
            n_targets: 0,
            guard: TRUE,
            negated: false,
            instr: 0,
            first: false,
            span: Span::default(),
            rule: Rule::Unknown,
        }
    }

    /// Lowers a whole kernel; `params` are its parameters with their offsets.
    pub(super) fn kernel(&mut self, kernel: &'a Function, params: &[(&'a str, u32)]) -> Result<()> {
        let mut scope = Scope::default();
        for &(name, offset) in params {
            scope.bind(name, Binding::Param(offset));
        }
        self.function = &kernel.name;
        self.span = kernel.span;
        let body = kernel.body.as_deref().unwrap_or_default();
        self.addressed = params::addressed(kernel);
        self.scopes.push(scope);
        self.block(body)?;
        self.scopes.pop();

        let falls_out = match self.ops.last() {
            Some(op) => {
                op.guard != TRUE || !matches!(op.kind, OpKind::Exit | OpKind::Trap | OpKind::Branch { .. })
            }
            None => true,
        };
        let end = self.ops.len() as u32;
        if falls_out || self.labels.contains(&end) {
            if self.instrs.is_empty() {
                self.instrs.push(InstrInfo {
                    text: "}".to_owned(),
                    ptx_line: kernel.span.line,
                    source: None,
                    fmas: 0,
                    merge: None,
                });
                self.starts.push(kernel.span.end);
            }
            self.guard = TRUE;
            self.first = false;
            self.emit(OpKind::Exit)?;
        }
        Ok(())
    }

    /// The statements of one pair of braces.
    pub(super) fn block(&mut self, body: &'a [Statement]) -> Result<()> {
        self.depth += 1;
        self.depth_in_function += 1;
        if self.depth > 4 * MAX_DEPTH {
            return Err(unsupported(self.span, "nesting as deep as this"));
        }
        let mut scope = Scope::default();
        for statement in body {
            match statement {
                Statement::Label(span, name) => {
                    self.labels.push(u32::MAX);
                    if scope.labels.insert(name, self.labels.len() as u32 - 1).is_some() {
                        return Err(invalid(*span, format!("label `{name}` is there twice")));
                    }
                }
                Statement::BranchTargets { name, targets, .. } => {
                    scope.targets.insert(name, targets);
                }
                _ => {}
            }
        }
        let frame = self.frame;
        self.scopes.push(scope);
        for (at, statement) in body.iter().enumerate() {
            match statement {
                Statement::Label(_, name) => {
                    if let Some(&label) = self.scope().labels.get(name.as_str()) {
                        self.labels[label as usize] = self.ops.len() as u32;
                    }
                }
                Statement::Instruction(instruction) => {
                    let last = at + 1 == body.len();
                    match self.instruction(instruction, last) {
                        Err(DecodeError::Unsupported(what))
                            if self.refused.len() < MAX_REFUSALS && self.ops.len() < MAX_OPS =>
                        {
                            for one in what {
                                if !self.refused.contains(&one) {
                                    self.refused.push(one);
                                }
                            }
                        }
                        other => other?,
                    }
                }
                Statement::Reg(decl) => {
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.declare(decl, &mut self.registers)?;
                    }
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Block(inner) => self.block(inner)?,
                Statement::Loc(loc) => {
                    // Line 0 is how compilers say "nowhere in particular".
                    self.loc = (loc.line != 0).then_some(SourceLoc {
                        file: loc.file,
                        line: loc.line,
                        column: loc.column,
                    });
                }
                Statement::Pragma(..)
                | Statement::BranchTargets { .. }
                | Statement::CallTargets { .. }
                | Statement::CallPrototype { .. } => {}
            }
        }
        self.scopes.pop();
        self.frame = frame;
        self.depth -= 1;
        self.depth_in_function -= 1;
        Ok(())
    }

    /// A variable declared inside a function.
    fn variable(&mut self, v: &'a Variable) -> Result<()> {
        let binding = match v.space {
            Space::Shared => match self.shared.offset(v) {
                Some(offset) => Binding::Shared(offset),
                None => {
                    return Err(DecodeError::Internal(format!(
                        "shared array `{}` has no place",
                        v.name
                    )));
                }
            },
            Space::Local => Binding::Local(self.frame_slot(v)?),
            Space::Param => self.param_variable(v)?,
            Space::Global | Space::Const => {
                let name = local_name(self.function, &v.name);
                let Some(address) = self.symbols.get(&name) else {
                    return Err(unsupported(v.span, format!("the external variable `{}`", v.name)));
                };
                if v.space == Space::Const {
                    Binding::Const(address)
                } else {
                    Binding::Global(address)
                }
            }
            Space::Reg | Space::Sreg | Space::Tex => {
                return Err(unsupported(v.span, format!("`{}` in this state space", v.name)));
            }
        };
        self.scope().bind(&v.name, binding);
        Ok(())
    }

    /// Room in the frame of the function being lowered.
    fn frame_slot(&mut self, v: &Variable) -> Result<u32> {
        let Some(bytes) = size_of(v)? else {
            return Err(invalid(v.span, format!("`{}` has no size", v.name)));
        };
        let align = align_of(v)?;
        let offset = u64::from(self.frame).next_multiple_of(u64::from(align));
        if offset + bytes > MAX_LOCAL {
            return Err(unsupported(
                v.span,
                format!("more than {MAX_LOCAL} bytes of local memory per thread"),
            ));
        }
        self.frame = (offset + bytes) as u32;
        self.local_bytes = self.local_bytes.max(self.frame);
        let array = SharedArray {
            name: v.name.clone(),
            offset: offset as u32,
            bytes: bytes as u32,
            align,
            element: v.ty.bytes() * v.vector,
            dims: v.dims.iter().map(|d| d.unwrap_or(0)).collect(),
        };
        if !self.local.contains(&array) && self.local.len() < 1000 {
            self.local.push(array);
        }
        Ok(offset as u32)
    }

    fn scope(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// What a name stands for: innermost scope first, then the module.
    fn find(&mut self, name: &'a str) -> Result<Option<Binding>> {
        for scope in self.scopes.iter_mut().rev() {
            if let Some(binding) = scope.find(name, &mut self.registers) {
                return Ok(Some(binding.clone()));
            }
        }
        let Some(v) = self.index.variable(name) else {
            return Ok(None);
        };
        Ok(Some(match v.space {
            Space::Shared => match self.shared.offset(v) {
                Some(offset) => Binding::Shared(offset),
                None => {
                    return Err(DecodeError::Internal(format!(
                        "shared array `{name}` has no place"
                    )));
                }
            },
            Space::Global | Space::Const => {
                let Some(address) = self.symbols.get(name) else {
                    return Err(unsupported(self.span, format!("the external variable `{name}`")));
                };
                if v.space == Space::Const {
                    Binding::Const(address)
                } else {
                    Binding::Global(address)
                }
            }
            _ => {
                return Err(unsupported(
                    v.span,
                    format!("`{name}` in this state space at module scope"),
                ));
            }
        }))
    }

    fn label(&self, name: &str) -> Option<u32> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.labels.get(name).copied())
    }

    fn targets(&self, name: &str) -> Option<&'a [String]> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.targets.get(name).copied())
    }

    /// A label of our own.
    fn fresh_label(&mut self) -> u32 {
        self.labels.push(u32::MAX);
        self.labels.len() as u32 - 1
    }

    fn place(&mut self, label: u32) {
        self.labels[label as usize] = self.ops.len() as u32;
    }

    /// Makes what is emitted next belong to `instruction`.
    fn begin(&mut self, instruction: &'a Instruction) {
        self.span = instruction.span;
        self.first = true;
        let start = instruction.span.start;
        self.instr = match self.instr_of.get(&start) {
            Some(&known) => known,
            None => {
                let own = self.instrs.len() as u32;
                self.instrs.push(InstrInfo {
                    text: text::instruction(instruction),
                    ptx_line: instruction.span.line,
                    source: self.loc,
                    fmas: text::fmas(instruction),
                    merge: None,
                });
                self.starts.push(start);
                self.instr_of.insert(start, own);
                own
            }
        };
    }

    /// One instruction. `last`: nothing follows it in its block.
    fn instruction(&mut self, instruction: &'a Instruction, last: bool) -> Result<()> {
        self.begin(instruction);
        (self.guard, self.negated) = (TRUE, false);
        if let Some(guard) = &instruction.guard {
            self.guard = self.predicate(&guard.register)?;
            self.negated = guard.negated;
        }
        let start = self.ops.len();
        self.family(instruction, last)?;
        if self.first {
            self.emit(OpKind::Nop)?;
        }
        self.keep_guard(start);
        Ok(())
    }

    fn family(&mut self, instruction: &'a Instruction, last: bool) -> Result<()> {
        match instruction.opcode.as_str() {
            "mov" => self.mov(instruction),
            "ld" | "ldu" => self.load(instruction),
            "st" => self.store(instruction),
            "cvta" => self.cvta(instruction),
            "isspacep" => self.is_space(instruction),
            "atom" | "red" => self.atomic(instruction),
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" => self.control(instruction, last),
            "call" => self.call(instruction),
            "bar" | "barrier" | "membar" | "fence" | "nanosleep" | "shfl" | "vote" | "match" | "redux"
            | "activemask" | "elect" => self.warp(instruction),
            "cp" => self.copy(instruction),
            "tex" => self.texture(instruction),
            "prefetch" | "prefetchu" | "discard" | "applypriority" | "pmevent" | "griddepcontrol"
            | "setmaxnreg" => self.emit(OpKind::Nop),
            _ => self.arithmetic(instruction),
        }
    }

    /// An op that writes its own guard would change the guard of those after it: keep a copy.
    fn keep_guard(&mut self, start: usize) {
        let guard = self.guard;
        if guard == TRUE || self.ops.len() < start + 2 {
            return;
        }
        let last = self.ops.len() - 1;
        let mut written = false;
        for op in &mut self.ops[start..last] {
            operands(op, &mut |register, class, role| {
                written |= role != Role::Use && class == Class::Pred && register as u32 == guard;
                register
            });
        }
        if !written {
            return;
        }
        let copy = self.registers.fresh(Class::Pred);
        for op in &mut self.ops[start..] {
            if op.guard == guard {
                op.guard = copy;
            }
        }
        let form = builtin(Builtin::MovPred, self.level);
        let args = AluArgs {
            dst: copy,
            src: [guard as Src, NONE, NONE, NONE],
        };
        let mov = VirtualOp {
            guard: TRUE,
            negated: false,
            instr: self.instr,
            first: true,
            kind: OpKind::Alu { run: form.run, args },
            classes: AluClasses {
                dst: form.dst,
                srcs: form.srcs,
            },
            pred: TRUE,
            moves: true,
            rule: Rule::Unknown,
        };
        self.ops[start].first = false;
        self.ops.insert(start, mov);
    }

    /// Adds an operation under the guard of the instruction.
    fn emit(&mut self, kind: OpKind) -> Result<()> {
        self.emit_with(kind, AluClasses::NONE, TRUE)
    }

    fn emit_with(&mut self, kind: OpKind, classes: AluClasses, pred: u32) -> Result<()> {
        if self.ops.len() >= MAX_OPS {
            return Err(unsupported(
                self.span,
                format!("a kernel of more than {MAX_OPS} operations, with its functions inlined,"),
            ));
        }
        let mut op = VirtualOp {
            guard: self.guard,
            negated: self.negated,
            instr: self.instr,
            first: std::mem::take(&mut self.first),
            kind,
            classes,
            pred,
            moves: false,
            rule: std::mem::take(&mut self.rule),
        };
        self.part_sources(&mut op)?;
        self.ops.push(op);
        Ok(())
    }

    /// Operations that write early must not read what they write: those sources are copied first.
    fn part_sources(&mut self, op: &mut VirtualOp) -> Result<()> {
        if matches!(op.kind, OpKind::Alu { .. }) {
            return Ok(());
        }
        let (mut used, mut written) = (Vec::new(), Vec::new());
        operands(op, &mut |register, class, role| {
            match role {
                Role::Use => used.push((register, class)),
                _ => written.push(register),
            }
            register
        });
        let first = op.first;
        for (register, class) in used {
            if !written.contains(&register) {
                continue;
            }
            self.first = std::mem::take(&mut op.first);
            let copy = self.registers.fresh(class) as i32;
            self.builtin(mov_of(class), copy as u32, &[register])?;
            operands(op, &mut |r, _, role| {
                if role == Role::Use && r == register {
                    copy
                } else {
                    r
                }
            });
        }
        debug_assert!(first || !op.first);
        Ok(())
    }

    fn alu(&mut self, form: Form, dst: u32, sources: &[Src]) -> Result<()> {
        let mut src = [NONE; 4];
        for (place, &source) in src.iter_mut().zip(sources) {
            *place = source;
        }
        if form.srcs.len() < src.len() {
            src[3] = form.variant;
        }
        let classes = AluClasses {
            dst: form.dst,
            srcs: form.srcs,
        };
        self.emit_with(
            OpKind::Alu {
                run: form.run,
                args: AluArgs { dst, src },
            },
            classes,
            TRUE,
        )
    }

    fn builtin(&mut self, op: Builtin, dst: u32, sources: &[Src]) -> Result<()> {
        self.alu(builtin(op, self.level), dst, sources)?;
        if let Some(last) = self.ops.last_mut() {
            last.moves = matches!(op, Builtin::Mov32 | Builtin::Mov64 | Builtin::MovPred);
            last.rule = match op {
                Builtin::Mov32 | Builtin::Mov64 | Builtin::Lo32Of64 => Rule::Same,
                Builtin::Zext64(_) | Builtin::Sext64(_) | Builtin::Zext32(_) | Builtin::Sext32(_) => {
                    Rule::Same
                }
                Builtin::Add32 | Builtin::Add64 => Rule::Sum,
                Builtin::Sub64 => Rule::Difference,
                _ => Rule::Unknown,
            };
        }
        Ok(())
    }

    /// A [`Builtin`] into a register of its own.
    fn value(&mut self, op: Builtin, sources: &[Src]) -> Result<Src> {
        let form = builtin(op, self.level);
        let dst = self.registers.fresh(form.dst);
        self.alu(form, dst, sources)?;
        Ok(dst as Src)
    }

    /// The carry flag: one predicate for the whole kernel.
    fn carry(&mut self) -> u32 {
        *self
            .carry
            .get_or_insert_with(|| self.registers.fresh(Class::Pred))
    }

    fn invalid(&self, message: impl Into<String>) -> DecodeError {
        invalid(self.span, message)
    }

    fn unsupported(&self, what: impl Into<String>) -> DecodeError {
        unsupported(self.span, what)
    }

    fn count(&self, instruction: &Instruction, n: usize) -> Result<()> {
        if instruction.operands.len() == n {
            return Ok(());
        }
        Err(self.invalid(format!(
            "`{}` takes {n} operands, not {}",
            instruction.mnemonic(),
            instruction.operands.len()
        )))
    }
}

/// The move of a class.
fn mov_of(class: Class) -> Builtin {
    match class {
        Class::Pred => Builtin::MovPred,
        Class::Bits32 => Builtin::Mov32,
        Class::Bits64 => Builtin::Mov64,
    }
}

/// The class of an element of so many bytes.
fn class_of(bytes: u32) -> Class {
    if bytes == 8 { Class::Bits64 } else { Class::Bits32 }
}
