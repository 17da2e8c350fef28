//! Variables inside functions, and name lookup.

use ptx::ast::{Space, Variable};

use super::PtxLowering;
use crate::error::{DecodeError, Result, invalid, unsupported};
use crate::ptx::index::{align_of, size_of};
use crate::ptx::scope::{Binding, Scope};
use crate::{ptx::layout::declared_array, ptx::module_variables::local_name};

impl<'a> PtxLowering<'a> {
    pub(super) fn variable(&mut self, v: &'a Variable) -> Result<()> {
        let binding = match v.space {
            Space::Shared => match self.shared.offset(v) {
                Some(offset) => Binding::Shared(offset),
                None => {
                    return Err(DecodeError::Internal(format!("shared array `{}` has no place", v.name)));
                }
            },
            Space::Local => Binding::Local(self.frame_slot(v)?),
            Space::Param => self.param_variable(v)?,
            Space::Global | Space::Const => {
                self.index.account.steps((self.function.len() + v.name.len()) as u64)?;
                let name = local_name(self.function, &v.name);
                let Some(address) = self.symbols.get(&name) else {
                    return Err(unsupported(v.span, format!("the external variable `{}`", v.name)));
                };
                if v.space == Space::Const { Binding::Const(address) } else { Binding::Global(address) }
            }
            Space::Reg | Space::Sreg | Space::Tex => {
                return Err(unsupported(v.span, format!("`{}` in this state space", v.name)));
            }
        };
        self.scope().bind(&v.name, binding);
        Ok(())
    }

    pub(super) fn frame_slot(&mut self, v: &Variable) -> Result<u32> {
        let bytes = size_of(v)?.ok_or_else(|| invalid(v.span, format!("`{}` has no size", v.name)))?;
        let align = align_of(v)?;
        let offset = self.frame_bytes(bytes, align)?;
        if self.activations.frame_base().is_some() {
            // Each activation has its own copy, so there is no single place.
            return Ok(offset);
        }
        let array = declared_array(v, offset, bytes as u32, align);
        self.index.account.steps(self.local.len() as u64 / 8)?;
        if self.local.len() < 1000 && !self.local.contains(&array) {
            self.index.account.bytes(array.name.len() as u64 + 100)?;
            self.local.push(array);
        }
        Ok(offset)
    }

    pub(super) fn scope(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Looks up a name: innermost scope first, then the module.
    pub(super) fn find(&mut self, name: &'a str) -> Result<Option<Binding>> {
        for scope in self.scopes.iter_mut().rev() {
            if let Some(binding) = scope.find(name, &mut self.registers) {
                return Ok(Some(binding));
            }
        }
        let Some(v) = self.index.variable(name) else { return Ok(None) };
        Ok(Some(match v.space {
            Space::Shared => match self.shared.offset(v) {
                Some(offset) => Binding::Shared(offset),
                None => {
                    return Err(DecodeError::Internal(format!("shared array `{name}` has no place")));
                }
            },
            Space::Global | Space::Const => {
                let Some(address) = self.symbols.get(name) else {
                    return Err(invalid(self.span, format!("nothing defines the external variable `{name}`")));
                };
                if v.space == Space::Const { Binding::Const(address) } else { Binding::Global(address) }
            }
            _ => {
                return Err(unsupported(v.span, format!("`{name}` in this state space at module scope")));
            }
        }))
    }
}
