//! Calls: most device functions are inlined; some external functions are operations.

use ptx::ast::{Function, FunctionKind, Instruction, Operand, Space, Variable};

use super::{PtxLowering, class_of, mov_of, params};
use crate::error::{Result, unsupported};
use crate::ptx::index::MAX_DEPTH;
use crate::ptx::scope::{Binding, Scope};
use crate::ptx::walk::CallParts;
use crate::virtual_op::{Reg, TRUE};
use arithmetic::lanes::{Class, Src};
use program::{Access, Addr, MemSpace, OpKind};

/// First letters of the functions of CUDA's `libcudadevrt`.
const DEVICE_RUNTIME: [&str; 4] = ["cuda", "__cuda", "__nv", "cnp"];

impl<'a> PtxLowering<'a> {
    pub(super) fn call(&mut self, instruction: &'a Instruction) -> Result<()> {
        let CallParts { returns, callee, arguments, prototype } = CallParts::of(instruction);
        let name = callee.ok_or_else(|| self.invalid("`call` needs the name of a function"))?;
        if self.find(name)?.is_some() {
            return self.call_through(name, prototype, returns, arguments);
        }
        match name {
            "vprintf" => return self.printf(returns, arguments),
            "__assertfail" => return self.assert_fail(arguments),
            "malloc" | "free" => {
                return Err(self.unsupported(format!("`{name}` inside a kernel")));
            }
            _ => {}
        }
        let Some(function) = self.index.function(name) else {
            return Err(self.invalid(format!("there is no function `{name}`")));
        };
        if function.body.is_none() {
            return Err(if DEVICE_RUNTIME.iter().any(|start| name.starts_with(start)) {
                self.unsupported(format!("`{name}` of the device runtime"))
            } else {
                self.invalid(format!("nothing defines the external function `{name}`"))
            });
        }
        let wanted = [function.params.len(), function.returns.len()];
        self.fits_signature(&format!("`{name}`"), wanted, [arguments.len(), returns.len()])?;
        if !self.activations.reach.recursive.contains(function.name.as_str()) {
            self.inline(function, returns, arguments)
        } else if function.kind == FunctionKind::Entry {
            Err(self.unsupported(format!("recursion of a kernel (`{name}` calls itself)")))
        } else {
            self.call_body(function, returns, arguments)
        }
    }

    /// Returns an error unless a call has as many arguments and results as the function.
    pub(super) fn fits_signature(&self, name: &str, wanted: [usize; 2], given: [usize; 2]) -> Result<()> {
        let [arguments, results] = wanted;
        let error = || self.invalid(format!("{name} takes {arguments} arguments and returns {results} results"));
        if wanted == given { Ok(()) } else { Err(error()) }
    }

    fn inline(&mut self, function: &'a Function, returns: &'a [Operand], arguments: &'a [Operand]) -> Result<()> {
        if self.inlined_in >= MAX_DEPTH {
            return Err(unsupported(function.span, format!("a chain of more than {MAX_DEPTH} calls")));
        }
        self.inlined_in += 1;
        let (instr, span) = (self.instr, self.span);
        // The call counts as an instruction.
        let around = self.branch_around()?;
        if around.is_none() {
            self.emit(OpKind::Nop)?;
        }

        let frame = self.frame;
        let addressed = params::addressed(function);
        let caller_addressed = std::mem::replace(&mut self.addressed, addressed);
        let caller = std::mem::replace(&mut self.function, &function.name);
        let mut scope = Scope::default();
        for (formal, actual) in function.params.iter().zip(arguments) {
            let binding = self.pass(formal, actual)?;
            scope.bind(&formal.name, binding);
        }
        let mut results = Vec::new();
        for (formal, actual) in function.returns.iter().zip(returns) {
            let binding = self.result(formal, actual)?;
            if let Binding::ParamLocal(_) | Binding::Register(_) | Binding::Vector(_) | Binding::ParamRegister(..) =
                &binding
            {
                results.push((binding.clone(), actual));
            }
            scope.bind(&formal.name, binding);
        }

        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let (loc, calls) = (self.loc, std::mem::take(&mut self.calls));
        let end = self.fresh_label();
        let outer_return = self.return_label.replace(end);
        let outer_depth = std::mem::replace(&mut self.depth_in_function, 0);
        self.lower_block(function.body.as_deref().unwrap_or_default())?;
        self.place(end);
        self.depth_in_function = outer_depth;
        self.return_label = outer_return;
        (self.loc, self.calls) = (loc, calls);
        self.scopes = scopes;
        self.addressed = caller_addressed;
        self.function = caller;
        self.frame = frame;
        self.inlined_in -= 1;

        (self.guard, self.negated) = (TRUE, false);
        (self.instr, self.first, self.span) = (instr, false, span);
        for (binding, actual) in results {
            self.hand_back(&binding, actual)?;
        }
        if let Some(label) = around {
            self.place(label);
        }
        Ok(())
    }

    /// Binds a formal parameter: the caller's own variable where possible, as neither side writes it in the call.
    fn pass(&mut self, formal: &'a Variable, actual: &'a Operand) -> Result<Binding> {
        let given = self.binding_of(actual)?;
        if let Some(given @ (Binding::ParamLocal(_) | Binding::ParamAt(_))) = &given
            && formal.space != Space::Reg
            && self.in_memory(formal)
        {
            return Ok(given.clone());
        }
        let own = self.param_variable(formal)?;
        if let Binding::Vector(to) = &own {
            match given {
                Some(Binding::Vector(from)) => self.copy_vector(to, &from)?,
                _ => return Err(self.mismatch(formal)),
            }
            return Ok(own);
        }
        let source = match (&own, given) {
            (Binding::ParamRegister(reg, _), Some(Binding::ParamLocal(at))) => {
                self.frame_load(at, reg.id, reg.bits, reg.class)?;
                return Ok(own);
            }
            (_, Some(Binding::ParamRegister(reg, _) | Binding::Register(reg))) => Some(reg),
            _ => None,
        };
        match &own {
            Binding::ParamRegister(reg, _) | Binding::Register(reg) => {
                let src = match source {
                    Some(given) if given.class == reg.class => given.id as Src,
                    Some(_) => return Err(self.mismatch(formal)),
                    None => self.source(actual, reg.class, Some(formal.ty))?,
                };
                self.builtin(mov_of(reg.class), reg.id, &[src])?;
            }
            Binding::ParamLocal(at) => {
                let class = class_of(formal.ty.bytes());
                let src = match source {
                    Some(given) if given.class == class => given.id as Src,
                    None if formal.dims.is_empty() => self.source(actual, class, Some(formal.ty))?,
                    _ => return Err(self.mismatch(formal)),
                };
                self.frame_store(*at, src, formal.ty.bytes(), class)?;
            }
            _ => return Err(self.mismatch(formal)),
        }
        Ok(own)
    }

    fn result(&mut self, formal: &'a Variable, actual: &'a Operand) -> Result<Binding> {
        if let Operand::Name(name) = actual
            && formal.space != Space::Reg
            && self.in_memory(formal)
            && let Some(given @ (Binding::ParamLocal(_) | Binding::ParamAt(_))) = self.find(name)?
        {
            return Ok(given);
        }
        self.param_variable(formal)
    }

    /// Copies a result to the caller's variable, unless it is already there.
    pub(super) fn hand_back(&mut self, formal: &Binding, actual: &'a Operand) -> Result<()> {
        let given = match actual {
            Operand::Name(name) if name == "_" => return Ok(()),
            Operand::Name(name) => self.find(name)?,
            _ => None,
        };
        match (formal, given) {
            (
                Binding::ParamRegister(from, _) | Binding::Register(from),
                Some(Binding::ParamRegister(to, _) | Binding::Register(to)),
            ) if from.class == to.class => self.builtin(mov_of(to.class), to.id, &[from.id as Src]),
            (Binding::ParamRegister(from, bytes), Some(Binding::ParamLocal(at))) => {
                self.frame_store(at, from.id as Src, *bytes, from.class)
            }
            (Binding::ParamLocal(at), Some(Binding::ParamRegister(to, _) | Binding::Register(to))) => {
                self.frame_load(*at, to.id, to.bits, to.class)
            }
            (Binding::ParamLocal(from), Some(Binding::ParamLocal(to))) if *from == to => Ok(()),
            (Binding::Vector(from), Some(Binding::Vector(to))) => self.copy_vector(&to, from),
            _ => Err(self.invalid("a result of the call does not fit where it goes")),
        }
    }

    fn copy_vector(&mut self, to: &[Reg], from: &[Reg]) -> Result<()> {
        let classes = |list: &[Reg]| list.iter().map(|reg| reg.class).collect::<Vec<_>>();
        refuse_if!(classes(to) != classes(from), self.invalid("a vector register of the call does not fit"));
        for (to, from) in to.iter().zip(from) {
            self.builtin(mov_of(to.class), to.id, &[from.id as Src])?;
        }
        Ok(())
    }

    fn mismatch(&self, formal: &Variable) -> super::DecodeError {
        self.invalid(format!("the argument for `{}` does not fit", formal.name))
    }

    pub(super) fn frame_load(&mut self, at: u32, dst: u32, bits: u8, class: Class) -> Result<()> {
        let access = self.frame_access(at, dst as i32, u32::from(bits / 8), class)?;
        self.emit(OpKind::Load(access))
    }

    pub(super) fn frame_store(&mut self, at: u32, src: Src, bytes: u32, class: Class) -> Result<()> {
        let access = self.frame_access(at, src, bytes, class)?;
        self.emit(OpKind::Store(access))
    }

    fn frame_access(&mut self, at: u32, register: i32, bytes: u32, class: Class) -> Result<Box<Access>> {
        if !matches!(bytes, 1 | 2 | 4 | 8) || class == Class::Pred {
            return Err(self.invalid("a predicate cannot be passed in memory"));
        }
        let addr = match self.activations.frame_base() {
            Some(base) => Addr { src: base as Src, wide: false, offset: i64::from(at) },
            None => Addr { src: self.constants.bits32(at, self.span)?, wide: false, offset: 0 },
        };
        let access = Access::new(MemSpace::Local, addr, bytes as u8, &[register]);
        Ok(Box::new(Access { wide: class == Class::Bits64, ..access }))
    }

    fn printf(&mut self, returns: &'a [Operand], arguments: &'a [Operand]) -> Result<()> {
        let [format, values] = arguments else { return Err(self.invalid("`vprintf` takes 2 arguments")) };
        let format = self.passed_source(format, Class::Bits64, 8)?;
        let arguments = self.passed_source(values, Class::Bits64, 8)?;
        let [result] = returns else { return self.emit(OpKind::Printf { format, arguments, dst: None }) };
        let id = self.registers.fresh(Class::Bits32);
        self.emit(OpKind::Printf { format, arguments, dst: Some(id) })?;
        self.hand_back(&Binding::ParamRegister(Reg { id, class: Class::Bits32, bits: 32 }, 4), result)
    }

    /// Lowers `__assertfail(message, file, line, function, char_size)`
    fn assert_fail(&mut self, arguments: &'a [Operand]) -> Result<()> {
        let [message, file, line, function, _] = arguments else {
            return Err(self.invalid("`__assertfail` takes 5 arguments"));
        };
        let text = [
            self.passed_source(message, Class::Bits64, 8)?,
            self.passed_source(file, Class::Bits64, 8)?,
            self.passed_source(function, Class::Bits64, 8)?,
        ];
        let line = self.passed_source(line, Class::Bits32, 4)?;
        self.emit(OpKind::AssertFail { text, line })
    }
}
