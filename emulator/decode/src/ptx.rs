//! Lowering: from the statements of a kernel, and of the functions that it calls, to virtual operations.
//!
//! Every instruction becomes at least one operation; one file per family. Device functions are inlined at
//! each call, but for those that [`call_graph`] says are called.

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
mod names;
mod operand;
mod params;
mod special;
mod tensor;
mod text;
mod texture;
mod variables;
mod warp;
mod wgmma;
mod wmma;

use activation::Activations;

use std::collections::{BTreeMap, HashMap};

use ptx::Span;
use ptx::ast::{Function, Immediate, Instruction, Operand, Statement};

use crate::error::{DecodeError, Result, invalid, unsupported};
use crate::hash::QuickMap;
use crate::passes::constants::Constants;
use crate::virt::{Reg, Registers, Rule, TRUE, VirtualOp};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, CpuLevel};
use call_graph::Reach;
use index::{Index, MAX_DEPTH};
use layout::SharedLayout;
use module_variables::Symbols;
use names::{Binding, Prototype, Scope};
use program::limits::{KERNEL_OPS, REFUSALS, STATEMENT_STEPS};
use program::{AtomicForm, Flow, InstrInfo, MAX_CALLS, OpKind, SharedArray, SourceLoc, Special};

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
    pub(super) specials: BTreeMap<Special, u32>,
    pub(super) local: Vec<SharedArray>,
    pub(super) local_bytes: u32,
    pub(super) shared_subword: bool,
    /// Reserved shared memory is used.
    pub(super) reserved_shared: bool,
    pub(super) refused: Vec<ptx::Unsupported>,

    scopes: Vec<Scope<'a>>,
    instr_of: QuickMap<u32, u32>,
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
    /// Calls around `loc`, innermost first, and those around each place that was inlined.
    calls: Vec<SourceLoc>,
    inlined: HashMap<SourceLoc, Vec<SourceLoc>>,
    carry: Option<u32>,
    /// What is called and not inlined.
    pub(super) activations: Activations<'a>,
    /// Functions that are being inlined.
    inlined_in: usize,
    /// Branch targets of all `brx.idx` so far.
    n_targets: usize,

    // The instruction being lowered.
    guard: u32,
    negated: bool,
    instr: u32,
    first: bool,
    span: Span,
    /// Rule of the next operation.
    rule: Rule,
    flow: Flow,
}

impl<'a> Lower<'a> {
    pub(super) fn new(
        index: &'a Index<'a>,
        symbols: &'a Symbols,
        level: CpuLevel,
        shared: &'a SharedLayout,
        reach: &'a Reach<'a>,
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
            rule: Rule::Unknown,
            flow: Flow::default(),
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
                    calls: Box::default(),
                    fmas: 0,
                    merge: None,
                    atomic: AtomicForm::Native,
                });
                self.starts.push(kernel.span.end);
            }
            self.guard = TRUE;
            self.first = false;
            self.emit(OpKind::Exit)?;
        }
        self.bodies()
    }

    /// The statements of one pair of braces.
    pub(super) fn block(&mut self, body: &'a [Statement]) -> Result<()> {
        self.depth += 1;
        self.depth_in_function += 1;
        if self.depth > 4 * MAX_DEPTH {
            return Err(unsupported(self.span, "nesting as deep as this"));
        }
        self.index
            .account
            .steps((body.len() as u64 + 4) * STATEMENT_STEPS)?;
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
                Statement::CallPrototype {
                    name,
                    returns,
                    params,
                    ..
                } => {
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
                    match self.instruction(instruction, last) {
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
                Statement::Block(inner) => self.block(inner)?,
                Statement::Loc(loc) => {
                    // Line 0 is how compilers say "nowhere in particular".
                    self.loc = (loc.line != 0).then_some(SourceLoc {
                        file: loc.file,
                        line: loc.line,
                        column: loc.column,
                    });
                    self.calls.clear();
                    if let (Some(here), Some(at)) = (self.loc, &loc.inlined_at) {
                        let at = SourceLoc {
                            file: at.file,
                            line: at.line,
                            column: at.column,
                        };
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

    /// One instruction. `last`: nothing follows it in its block.
    fn instruction(&mut self, instruction: &'a Instruction, last: bool) -> Result<()> {
        self.begin(instruction)?;
        (self.guard, self.negated) = (TRUE, false);
        if let Some(guard) = &instruction.guard {
            self.guard = self.predicate(&guard.register)?;
            self.negated = guard.negated;
        }
        let start = self.ops.len();
        self.family(instruction, last)?;
        // What others see of this access orders the accesses around it, as a fence would.
        if matches!(instruction.opcode.as_str(), "ld" | "st" | "atom" | "red")
            && ["acquire", "release", "acq_rel"]
                .iter()
                .any(|order| instruction.has(order))
        {
            self.emit(OpKind::Fence)?;
        }
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
            "mapa" => self.map_address(instruction),
            "getctarank" => self.rank_of_address(instruction),
            "cvta" => self.cvta(instruction),
            "isspacep" => self.is_space(instruction),
            "atom" | "red" => self.atomic(instruction),
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" => self.control(instruction, last),
            "call" => self.call(instruction),
            "bar" | "barrier" | "membar" | "fence" | "nanosleep" | "shfl" | "vote" | "match" | "redux"
            | "activemask" | "elect" => self.warp(instruction),
            "mbarrier" => self.mbarrier(instruction),
            "mma" => self.mma(instruction),
            "wmma" => self.wmma(instruction),
            "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix(instruction),
            "cp" if instruction.has("mbarrier") => self.arrive_behind_copies(instruction),
            "cp" if instruction.has("bulk") && !instruction.has("tensor") => self.bulk_copy(instruction),
            "cp" if instruction.has("tensor") => self.tensor_copy(instruction),
            "cp" => self.copy(instruction),
            "wgmma" => self.wgmma(instruction),
            "tex" => self.texture(instruction),
            // Hints: nothing that a program can see.
            "prefetch" | "prefetchu" | "discard" | "applypriority" | "pmevent" => self.emit(OpKind::Nop),
            // What registers a warp has, no program can see.
            "setmaxnreg" => match &instruction.operands[..] {
                [Operand::Immediate(Immediate::Int(n))] if (24..=256).contains(n) && n % 8 == 0 => {
                    self.emit(OpKind::Nop)
                }
                _ => {
                    Err(self
                        .invalid("the number of registers of `setmaxnreg` is a multiple of 8 from 24 to 256"))
                }
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
