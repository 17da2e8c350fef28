//! Calls of functions that are not inlined, and their bodies.
//!
//! Calls share the registers of scalars; objects lie in the caller's frame. [`Activations::base`] is the own frame.

use std::collections::{BTreeMap, HashMap};

use ptx::ast::{Function, Operand};

use super::{PtxLowering, mov_of, params};
use crate::error::Result;
use crate::ptx::call_graph::{Passed, Reach, Signature};
use crate::ptx::scope::{Binding, Prototype, Scope};
use crate::virtual_op::{Reg, TRUE};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::{OpKind, limits::LOCAL_BYTES};

/// A called function.
pub(crate) struct Body<'a> {
    pub(crate) function: &'a Function,
    /// Label of the first operation.
    pub(crate) label: u32,
    pub(crate) signature: u32,
    /// Bytes of its variables in local memory.
    pub(crate) variables: u32,
    /// First instruction that calls the function.
    instr: u32,
}

/// A call that starts an activation.
pub(crate) struct Site {
    /// 0 in the kernel, `i + 1` in body `i`.
    pub(crate) region: u32,
    pub(crate) callee: Option<u32>,
    pub(crate) signature: u32,
}

/// The two directions in which a call passes values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Passing {
    Parameter,
    Result,
}

/// Called functions known so far.
pub(crate) struct Activations<'a> {
    pub(crate) reach: &'a Reach<'a>,
    pub(crate) bodies: Vec<Body<'a>>,
    pub(crate) sites: Vec<Site>,
    /// Register with the start of the frame.
    pub(crate) base: Option<u32>,
    /// Largest alignment in any frame.
    pub(crate) align: u32,
    /// Registers of parameters and results, by position.
    shared: BTreeMap<(Passing, usize, u8), u32>,
    body_of: HashMap<&'a str, u32>,
    signatures: Vec<Signature>,
    /// Region being lowered; see [`Site`].
    region: u32,
}

impl<'a> Activations<'a> {
    pub(super) fn new(reach: &'a Reach<'a>) -> Self {
        Self {
            reach,
            bodies: Vec::new(),
            sites: Vec::new(),
            base: None,
            align: 16,
            shared: BTreeMap::new(),
            body_of: HashMap::new(),
            signatures: Vec::new(),
            region: 0,
        }
    }

    /// Returns the registers that keep their place in the whole kernel.
    pub(crate) fn pinned(&self) -> impl Iterator<Item = u32> {
        self.base.into_iter().chain(self.shared.values().copied())
    }

    /// Returns the register of the frame, if frames do not start at 0.
    pub(super) fn frame_base(&self) -> Option<u32> {
        self.base.filter(|_| self.region > 0)
    }

    fn number(&mut self, signature: &Signature) -> u32 {
        let known = self.signatures.iter().position(|s| s == signature);
        known.unwrap_or_else(|| {
            self.signatures.push(signature.clone());
            self.signatures.len() - 1
        }) as u32
    }
}

impl<'a> PtxLowering<'a> {
    /// Lowers a call through an address in a register.
    pub(super) fn call_through(
        &mut self, name: &'a str, prototype: Option<&'a str>, returns: &'a [Operand], arguments: &'a [Operand],
    ) -> Result<()> {
        let target = match self.find(name)? {
            Some(Binding::Register(reg)) if reg.class == Class::Bits64 => reg.id as Src,
            _ => {
                return Err(
                    self.invalid(format!("`{name}` is not a 64-bit register: nothing can be called through it"))
                );
            }
        };
        let found = prototype.and_then(|label| self.scopes.iter().rev().find_map(|s| s.prototypes.get(label)));
        let signature = match (found, prototype) {
            (Some(Prototype::Variables(returns, params)), _) => Signature::new(returns, params)?,
            (Some(Prototype::Like(name)), _) => match self.index.function(name) {
                Some(function) => Signature::of(function)?,
                None => return Err(self.invalid(format!("there is no function `{name}`"))),
            },
            (None, Some(label)) => return Err(self.invalid(format!("there is no prototype `{label}`"))),
            (None, None) => {
                return Err(self.invalid(format!("a call through `{name}` needs a `.callprototype`")));
            }
        };
        let number = self.activations.number(&signature);
        let reach = self.activations.reach;
        for &function in &reach.targets {
            self.index.account.steps(1 + function.params.len() as u64)?;
            if Signature::of(function)? == signature {
                self.body_of(function)?;
            }
        }
        self.activate(None, Some(target), &signature, number, returns, arguments)
    }

    pub(super) fn call_body(
        &mut self, function: &'a Function, returns: &'a [Operand], arguments: &'a [Operand],
    ) -> Result<()> {
        let callee = self.body_of(function)?;
        let signature = Signature::of(function)?;
        let number = self.activations.bodies[callee as usize].signature;
        self.activate(Some(callee), None, &signature, number, returns, arguments)
    }

    /// Returns the number of a called function. Queues its body, which is lowered later.
    fn body_of(&mut self, function: &'a Function) -> Result<u32> {
        if let Some(&known) = self.activations.body_of.get(function.name.as_str()) {
            return Ok(known);
        }
        self.index.account.bytes(200 + 2 * function.name.len() as u64)?;
        let signature = self.activations.number(&Signature::of(function)?);
        let label = self.fresh_label();
        let own = self.activations.bodies.len() as u32;
        self.activations.bodies.push(Body { function, label, signature, variables: 0, instr: self.instr });
        self.activations.body_of.insert(&function.name, own);
        Ok(own)
    }

    fn activate(
        &mut self, callee: Option<u32>, target: Option<Src>, signature: &Signature, number: u32,
        returns: &'a [Operand], arguments: &'a [Operand],
    ) -> Result<()> {
        let wanted = [signature.params.len(), signature.returns.len()];
        self.fits_signature("the function", wanted, [arguments.len(), returns.len()])?;
        self.base_register();
        let around = self.branch_around()?;
        let mut passed_values = Vec::new();
        for (at, (passed, actual)) in signature.params.iter().zip(arguments).enumerate() {
            let (class, src) = match *passed {
                Passed::Register(class, bytes) => (class, self.passed_source(actual, class, bytes)?),
                Passed::Memory(_) => (Class::Bits32, self.place_of(actual)?),
            };
            passed_values.push(((Passing::Parameter, at, class), src));
        }
        for (at, (passed, actual)) in signature.returns.iter().zip(returns).enumerate() {
            if let Passed::Memory(bytes) = *passed {
                let unwanted = matches!(actual, Operand::Name(name) if name == "_");
                let place = if unwanted {
                    let room = self.frame_bytes(bytes, 16)?;
                    self.frame_address(room)?
                } else {
                    self.place_of(actual)?
                };
                passed_values.push(((Passing::Result, at, Class::Bits32), place));
            }
        }
        for ((passing, at, class), src) in passed_values {
            let to = self.passing_register(passing, at, class);
            self.builtin(mov_of(class), to, &[src])?;
        }

        let site = self.activations.sites.len() as u32;
        self.index.account.bytes(200)?;
        let region = self.activations.region;
        self.activations.sites.push(Site { region, callee, signature: number });
        self.emit(OpKind::Call { site, target })?;
        self.emit(OpKind::Resume { site })?;

        for (at, (passed, actual)) in signature.returns.iter().zip(returns).enumerate() {
            let Passed::Register(class, bytes) = *passed else { continue };
            let from = self.passing_register(Passing::Result, at, class);
            self.hand_back(&Binding::ParamRegister(Reg { id: from, class, bits: 8 * bytes as u8 }, bytes), actual)?;
        }
        if let Some(label) = around {
            self.place(label);
        }
        Ok(())
    }

    pub(super) fn passed_source(&mut self, actual: &'a Operand, class: Class, bytes: u32) -> Result<Src> {
        match self.binding_of(actual)? {
            Some(Binding::ParamRegister(reg, _)) if reg.class == class => Ok(reg.id as Src),
            Some(Binding::ParamRegister(..)) => {
                Err(self.invalid("an argument of the call has another size than the parameter"))
            }
            Some(Binding::ParamLocal(at)) if class != Class::Pred => {
                let copy = self.registers.fresh(class);
                self.frame_load(at, copy, 8 * bytes as u8, class)?;
                Ok(copy as Src)
            }
            _ => self.source(actual, class, None),
        }
    }

    /// Address of an argument or result in memory.
    fn place_of(&mut self, actual: &'a Operand) -> Result<Src> {
        match self.binding_of(actual)? {
            Some(Binding::ParamLocal(at)) => self.frame_address(at),
            Some(Binding::ParamAt(reg)) => Ok(reg.id as Src),
            _ => Err(self.invalid("an argument of the call must be a `.param` array")),
        }
    }

    /// Emits the local-memory address of an offset in the frame.
    pub(super) fn frame_address(&mut self, at: u32) -> Result<Src> {
        let at = self.constants.bits32(at, self.span)?;
        match self.activations.frame_base() {
            Some(base) => self.value(Builtin::Add32, &[base as Src, at]),
            None => Ok(at),
        }
    }

    /// Reserves bytes in the frame, and returns their offset.
    pub(super) fn frame_bytes(&mut self, bytes: u64, align: u32) -> Result<u32> {
        let offset = u64::from(self.frame).next_multiple_of(u64::from(align));
        if offset + bytes > u64::from(LOCAL_BYTES) {
            return Err(self.unsupported(format!("more than {LOCAL_BYTES} bytes of local memory per thread")));
        }
        self.frame = (offset + bytes) as u32;
        self.local_bytes = self.local_bytes.max(self.frame);
        self.activations.align = self.activations.align.max(align);
        Ok(offset as u32)
    }

    fn base_register(&mut self) -> u32 {
        let registers = &mut self.registers;
        *self.activations.base.get_or_insert_with(|| registers.fresh(Class::Bits32))
    }

    fn passing_register(&mut self, passing: Passing, at: usize, class: Class) -> u32 {
        let registers = &mut self.registers;
        *self.activations.shared.entry((passing, at, class as u8)).or_insert_with(|| registers.fresh(class))
    }

    /// Lowers the called functions after the kernel, until none is missing.
    pub(super) fn lower_called_functions(&mut self) -> Result<()> {
        let kernel_bytes = self.local_bytes;
        let mut at = 0;
        while at < self.activations.bodies.len() {
            self.local_bytes = 0;
            self.lower_body(at)?;
            self.activations.bodies[at].variables = self.local_bytes;
            at += 1;
        }
        self.local_bytes = kernel_bytes;
        Ok(())
    }

    fn lower_body(&mut self, at: usize) -> Result<()> {
        let Body { function, label, instr, .. } = self.activations.bodies[at];
        self.base_register();
        self.activations.region = at as u32 + 1;
        self.place(label);
        self.frame = 0;
        self.addressed = params::addressed(function);
        self.function = &function.name;
        (self.guard, self.negated, self.instr, self.first) = (TRUE, false, instr, false);
        (self.span, self.loc) = (function.span, None);
        self.calls.clear();
        self.scopes.clear();

        let mut scope = Scope::default();
        let signature = Signature::of(function)?;
        for (at, (formal, passed)) in function.params.iter().zip(&signature.params).enumerate() {
            let binding = match *passed {
                Passed::Memory(_) => self.passed_place(Passing::Parameter, at)?,
                Passed::Register(class, bytes) => {
                    let own = self.param_variable(formal)?;
                    let from = self.passing_register(Passing::Parameter, at, class) as Src;
                    match own {
                        Binding::ParamLocal(at) => self.frame_store(at, from, bytes, class)?,
                        Binding::ParamRegister(reg, _) | Binding::Register(reg) => {
                            self.builtin(mov_of(class), reg.id, &[from])?;
                        }
                        _ => return Err(self.invalid(format!("`{}` cannot be a parameter", formal.name))),
                    }
                    own
                }
            };
            scope.bind(&formal.name, binding);
        }
        let mut results = Vec::new();
        for (at, (formal, passed)) in function.returns.iter().zip(&signature.returns).enumerate() {
            let binding = match *passed {
                Passed::Memory(_) => self.passed_place(Passing::Result, at)?,
                Passed::Register(class, _) => {
                    let own = self.param_variable(formal)?;
                    results.push((own.clone(), at, class, formal.ty.bytes()));
                    own
                }
            };
            scope.bind(&formal.name, binding);
        }

        self.scopes.push(scope);
        let end = self.fresh_label();
        self.return_label = Some(end);
        (self.depth, self.depth_in_function) = (0, 0);
        self.lower_block(function.body.as_deref().unwrap_or_default())?;
        self.place(end);
        self.return_label = None;
        self.scopes.clear();
        (self.guard, self.negated, self.first) = (TRUE, false, false);
        for (own, at, class, bytes) in results {
            let to = self.passing_register(Passing::Result, at, class);
            match own {
                Binding::ParamLocal(at) => self.frame_load(at, to, 8 * bytes as u8, class)?,
                Binding::ParamRegister(reg, _) | Binding::Register(reg) => {
                    self.builtin(mov_of(class), to, &[reg.id as Src])?;
                }
                _ => return Err(self.invalid("a result that is not a scalar")),
            }
        }
        self.emit(OpKind::Return)
    }

    /// Binds a parameter or result in the caller's memory.
    fn passed_place(&mut self, passing: Passing, at: usize) -> Result<Binding> {
        let from = self.passing_register(passing, at, Class::Bits32);
        let id = self.registers.fresh(Class::Bits32);
        self.builtin(Builtin::Mov32, id, &[from as Src])?;
        Ok(Binding::ParamAt(Reg { id, class: Class::Bits32, bits: 32 }))
    }
}
