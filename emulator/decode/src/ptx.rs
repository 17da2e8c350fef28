//! PTX: lowers the statements of a kernel, and of the functions that it calls, to virtual operations.
//!
//! Every instruction becomes at least one operation. Device functions are inlined, except those of [`call_graph`].

mod activation;
mod address;
mod alu;
mod atomic;
mod call;
mod call_graph;
mod cluster;
mod control;
mod copy;
mod emit;
mod frames;
pub(crate) mod index;
pub(crate) mod kernel;
mod layout;
mod matrix;
mod mbarrier;
mod memory;
pub(crate) mod module_variables;
mod moves;
mod operand;
mod params;
mod scope;
mod special_registers;
mod tensor;
mod texture;
mod variables;
mod walk;
mod warp;
mod wgmma;
mod wmma;

use activation::Activations;

use std::collections::{BTreeMap, HashMap};

use ptx::Span;
use ptx::ast::{Function, Immediate, Instruction, Operand, Statement};

use crate::error::{DecodeError, Result, invalid, unsupported};
use crate::virtual_op::{Reg, Registers, TRUE, VirtualOp};
use crate::{hash::QuickMap, passes::constants::Constants};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, CpuLevel};
use call_graph::Reach;
use index::{Index, MAX_DEPTH};
use layout::SharedLayout;
use module_variables::Symbols;
use program::limits::{KERNEL_OPS, REFUSALS, STATEMENT_STEPS};
use program::{DeclaredArray, InstrInfo, MAX_CALLS, OpKind, Reconverge, SourceLoc, Special};
use scope::{Binding, Prototype, Scope};

/// Lowers one kernel: the operations so far, the scopes around the statement, and the instruction being lowered.
pub(super) struct PtxLowering<'a> {
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
    /// Position of each label; `u32::MAX` if not reached yet.
    pub(super) labels: Vec<u32>,
    pub(super) specials: BTreeMap<Special, u32>,
    pub(super) local: Vec<DeclaredArray>,
    pub(super) local_bytes: u32,
    pub(super) shared_subword: bool,
    pub(super) reserved_shared: bool,
    pub(super) refused: Vec<ptx::Unsupported>,

    scopes: Vec<Scope<'a>>,
    instr_of: QuickMap<u32, u32>,
    /// Top of the current function's frame.
    frame: u32,
    /// Parameters of the current function that need an address.
    addressed: HashMap<&'a str, params::ParamUses>,
    function: &'a str,
    /// Target of `ret`; `None` in the kernel itself.
    return_label: Option<u32>,
    depth: usize,
    depth_in_function: usize,
    loc: Option<SourceLoc>,
    /// Inlined calls around `loc`, innermost first, and those around each inlined position.
    calls: Vec<SourceLoc>,
    inlined: HashMap<SourceLoc, Vec<SourceLoc>>,
    carry: Option<u32>,
    /// Functions that are called and not inlined.
    pub(super) activations: Activations<'a>,
    /// Depth of inlined functions.
    inlined_in: usize,
    /// Number of branch targets of all `brx.idx` so far.
    n_targets: usize,

    // The instruction being lowered.
    guard: u32,
    negated: bool,
    instr: u32,
    first: bool,
    span: Span,
}

impl<'a> PtxLowering<'a> {
    pub(super) fn new(
        index: &'a Index<'a>, symbols: &'a Symbols, level: CpuLevel, shared: &'a SharedLayout, reach: &'a Reach<'a>,
    ) -> PtxLowering<'a> {
        PtxLowering {
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
            reserved_shared: false,
            refused: Vec::new(),
            scopes: Vec::new(),
            instr_of: QuickMap::default(),
            frame: 0,
            addressed: HashMap::new(),
            function: "",
            return_label: None,
            depth: 0,
            depth_in_function: 0,
            calls: Vec::new(),
            inlined: HashMap::new(),
            loc: None,
            carry: None,
            activations: Activations::new(reach),
            inlined_in: 0,
            n_targets: 0,
            guard: TRUE,
            negated: false,
            instr: 0,
            first: false,
            span: Span::default(),
        }
    }

    /// Lowers a kernel; `params` are its parameters with their offsets.
    pub(super) fn lower_kernel(&mut self, kernel: &'a Function, params: &[(&'a str, u32)]) -> Result<()> {
        let mut scope = Scope::default();
        for &(name, offset) in params {
            scope.bind(name, Binding::Param(offset));
        }
        self.function = &kernel.name;
        self.span = kernel.span;
        let body = kernel.body.as_deref().unwrap_or_default();
        self.addressed = params::addressed(kernel);
        self.scopes.push(scope);
        self.lower_block(body)?;
        self.scopes.pop();

        let falls_out = match self.ops.last() {
            Some(op) => op.guard != TRUE || !matches!(op.kind, OpKind::Exit | OpKind::Trap | OpKind::Branch { .. }),
            None => true,
        };
        let end = self.ops.len() as u32;
        if falls_out || self.labels.contains(&end) {
            if self.instrs.is_empty() {
                self.instrs.push(InstrInfo {
                    text: "}".to_owned(),
                    ptx_line: kernel.span.line,
                    ..InstrInfo::default()
                });
                self.starts.push(kernel.span.end);
            }
            self.guard = TRUE;
            self.first = false;
            self.emit(OpKind::Exit)?;
        }
        self.lower_called_functions()
    }

    pub(super) fn lower_block(&mut self, body: &'a [Statement]) -> Result<()> {
        self.depth += 1;
        self.depth_in_function += 1;
        refuse_if!(self.depth > 4 * MAX_DEPTH, unsupported(self.span, "nesting as deep as this"));
        self.index.account.steps((body.len() as u64 + 4) * STATEMENT_STEPS)?;
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
                Statement::CallPrototype { name, returns, params, .. } => {
                    let prototype = Prototype::Variables(returns, params);
                    scope.prototypes.insert(name, prototype);
                }
                Statement::CallTargets { name, targets, .. } => {
                    if let Some(first) = targets.first() {
                        scope.prototypes.insert(name, Prototype::Like(first));
                    }
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
                    match self.lower_instruction(instruction, last) {
                        Err(DecodeError::Unsupported(what))
                            if self.refused.len() < REFUSALS && self.ops.len() < KERNEL_OPS =>
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
                Statement::Block(inner) => self.lower_block(inner)?,
                Statement::Loc(loc) => {
                    // Compilers write line 0 for "nowhere in particular".
                    self.loc =
                        (loc.line != 0).then_some(SourceLoc { file: loc.file, line: loc.line, column: loc.column });
                    self.calls.clear();
                    if let (Some(here), Some(at)) = (self.loc, &loc.inlined_at) {
                        let at = SourceLoc { file: at.file, line: at.line, column: at.column };
                        self.calls.push(at);
                        let outer = self.inlined.get(&at).map_or(&[][..], Vec::as_slice);
                        self.calls.extend(&outer[..outer.len().min(MAX_CALLS - 1)]);
                        self.inlined.insert(here, self.calls.clone());
                    }
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

    fn label(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }

    fn targets(&self, name: &str) -> Option<&'a [String]> {
        self.scopes.iter().rev().find_map(|scope| scope.targets.get(name).copied())
    }

    fn fresh_label(&mut self) -> u32 {
        self.labels.push(u32::MAX);
        self.labels.len() as u32 - 1
    }

    /// Places a label before the next operation.
    fn place(&mut self, label: u32) {
        self.labels[label as usize] = self.ops.len() as u32;
    }

    /// Lowers an instruction; `last` tells whether it ends its block.
    fn lower_instruction(&mut self, instruction: &'a Instruction, last: bool) -> Result<()> {
        self.begin(instruction)?;
        (self.guard, self.negated) = (TRUE, false);
        if let Some(guard) = &instruction.guard {
            self.guard = self.predicate(&guard.register)?;
            self.negated = guard.negated;
        }
        let start = self.ops.len();
        // Acquire and release order the accesses around them, as a fence before and after them does.
        let is_access = matches!(instruction.opcode.as_str(), "ld" | "st" | "atom" | "red");
        let has = |order: &str| is_access && (instruction.has(order) || instruction.has("acq_rel"));
        if has("release") {
            self.emit(OpKind::Fence)?;
        }
        self.lower_by_opcode(instruction, last)?;
        if has("acquire") {
            self.emit(OpKind::Fence)?;
        }
        if self.first {
            self.emit(OpKind::Nop)?;
        }
        self.keep_guard(start);
        Ok(())
    }

    /// With `scalar`, instructions that the compiler of learners' kernels does not write are unknown.
    fn lower_by_opcode(&mut self, instruction: &'a Instruction, last: bool) -> Result<()> {
        const ALL: bool = !cfg!(feature = "scalar");
        match instruction.opcode.as_str() {
            "mov" => self.mov(instruction),
            "ld" | "ldu" => self.load(instruction),
            "st" => self.store(instruction),
            "mapa" if ALL => self.map_address(instruction),
            "getctarank" if ALL => self.rank_of_address(instruction),
            "cvta" => self.cvta(instruction),
            "isspacep" => self.is_space(instruction),
            "atom" | "red" => self.atomic(instruction),
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" => self.control(instruction, last),
            "call" if ALL => self.call(instruction),
            "bar" | "barrier" | "membar" | "fence" | "nanosleep" | "shfl" | "vote" | "match" | "redux"
            | "activemask" | "elect" => self.warp(instruction),
            "mbarrier" if ALL => self.mbarrier(instruction),
            "mma" if ALL => self.mma(instruction),
            "wmma" if ALL => self.wmma(instruction),
            "ldmatrix" | "stmatrix" | "movmatrix" if ALL => self.matrix(instruction),
            "cp" if ALL && instruction.has("mbarrier") => self.arrive_behind_copies(instruction),
            "cp" if ALL && instruction.has("bulk") && !instruction.has("tensor") => self.bulk_copy(instruction),
            "cp" if ALL && instruction.has("tensor") => self.tensor_copy(instruction),
            "cp" if ALL => self.copy(instruction),
            "wgmma" if ALL => self.wgmma(instruction),
            "tex" if ALL => self.texture(instruction),
            // Hints are invisible to a program, and so is the end of earlier grids: grids run one after the other.
            "prefetch" | "prefetchu" | "discard" | "applypriority" | "pmevent" | "griddepcontrol" => {
                self.emit(OpKind::Nop)
            }
            // The number of registers is invisible to a program.
            "setmaxnreg" => match &instruction.operands[..] {
                [Operand::Immediate(Immediate::Int(n))] if (24..=256).contains(n) && n % 8 == 0 => {
                    self.emit(OpKind::Nop)
                }
                _ => Err(self.invalid("the number of registers of `setmaxnreg` is a multiple of 8 from 24 to 256")),
            },
            _ => self.arithmetic(instruction),
        }
    }

    fn invalid(&self, message: impl Into<String>) -> DecodeError {
        invalid(self.span, message)
    }

    fn unsupported(&self, what: impl Into<String>) -> DecodeError {
        unsupported(self.span, what)
    }

    fn not_supported(&self, instruction: &Instruction) -> DecodeError {
        self.unsupported(format!("`{}`", instruction.mnemonic()))
    }

    fn count(&self, instruction: &Instruction, n: usize) -> Result<()> {
        match instruction.operands.len() {
            found if found == n => Ok(()),
            found => Err(self.invalid(format!("`{}` takes {n} operands, not {found}", instruction.mnemonic()))),
        }
    }

    /// Returns the operands without the cache policy, which changes no results.
    fn operands_without_policy(&self, instruction: &'a Instruction) -> &'a [Operand] {
        match &instruction.operands[..] {
            [rest @ .., _] if instruction.modifiers.iter().any(|m| m.ends_with("::cache_hint")) => rest,
            all => all,
        }
    }

    fn binding_of(&mut self, operand: &'a Operand) -> Result<Option<Binding>> {
        match operand {
            Operand::Name(name) => self.find(name),
            _ => Ok(None),
        }
    }

    /// Branches around what follows where the guard does not hold; returns the label to place after it.
    fn branch_around(&mut self) -> Result<Option<u32>> {
        if self.guard == TRUE {
            return Ok(None);
        }
        let label = self.fresh_label();
        self.negated = !self.negated;
        self.emit(OpKind::Branch { target: label, reconverge: Reconverge::AtExit })?;
        (self.guard, self.negated) = (TRUE, false);
        Ok(Some(label))
    }
}

fn mov_of(class: Class) -> Builtin {
    match class {
        Class::Pred => Builtin::MovPred,
        Class::Bits32 => Builtin::Mov32,
        Class::Bits64 => Builtin::Mov64,
    }
}

fn class_of(bytes: u32) -> Class {
    Class::of_width(bytes == 8)
}
