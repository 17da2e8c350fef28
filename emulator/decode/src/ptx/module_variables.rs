//! Module-scope variables, to which the loader gives memory before kernels are decoded.

use std::collections::HashMap;

use ptx::ast::{Immediate, Initializer, Item, Linkage, Module, Space, Type, Variable};

use crate::error::{Result, invalid, unsupported};
use crate::ptx::index::{Index, align_of, size_of};
use crate::ptx::walk::variables;
use program::limits::Account;

/// A `.global` or `.const` variable of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Symbol. A variable declared inside a function is `function::name`.
    pub name: String,
    /// State space: `Global` or `Const`.
    pub space: Space,
    pub bytes: u64,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Initial contents, with their offsets; the rest are zeros.
    pub init: Vec<(u64, Vec<u8>)>,
    /// Addresses to write over `init`.
    pub relocations: Vec<Relocation>,
}

/// A pointer in the initial contents of a variable: the address of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// Byte offset from the start of the variable.
    pub at: u64,
    /// Bytes to write: 8, or 4 for a `.u32` element.
    pub bytes: u32,
    /// Variable whose address is written.
    pub symbol: String,
    /// Bytes added to the address.
    pub offset: i64,
}

/// Generic addresses of module-scope variables, by symbol.
#[derive(Debug, Clone, Default)]
pub struct Symbols(HashMap<String, u64>);

impl Symbols {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn insert(&mut self, name: impl Into<String>, address: u64) {
        self.0.insert(name.into(), address);
    }

    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

/// Lists the variables, except external ones, that need memory before [`crate::decode`]; charges `account`.
pub fn module_variables(module: &Module, account: &Account) -> Result<Vec<ModuleVariable>> {
    let index = Index::new(module, account)?;
    let mut found = Vec::new();
    for item in &module.items {
        match item {
            Item::Variable(v) => add(v, v.name.clone(), &index, &mut found)?,
            Item::Function(f) => {
                for v in variables(f) {
                    // The name is stored several times.
                    account.bytes(4 * (f.name.len() + v.name.len()) as u64)?;
                    add(v, local_name(&f.name, &v.name), &index, &mut found)?;
                }
            }
            Item::Alias { .. } | Item::Pragma(..) | Item::Section(..) => {}
        }
    }
    Ok(found)
}

/// Returns the symbol of a `.global` variable declared inside a function.
pub(crate) fn local_name(function: &str, variable: &str) -> String {
    format!("{function}::{variable}")
}

fn add(v: &Variable, name: String, index: &Index, found: &mut Vec<ModuleVariable>) -> Result<()> {
    if !matches!(v.space, Space::Global | Space::Const) || v.linkage == Linkage::Extern {
        return Ok(());
    }
    if matches!(v.ty, Type::TexRef | Type::SamplerRef | Type::SurfRef) {
        return Err(unsupported(v.span, format!("the texture reference `{}` (use a texture object)", v.name)));
    }
    let element = v.ty.bytes();
    refuse_if!(element == 0, invalid(v.span, format!("`{}` has no size", v.name)));
    let mut size = size_of(v)?;
    if size.is_none() {
        // `= { 1, 2, 3 }` with the first dimension left open.
        let rest = v.dims.iter().flatten().try_fold(1u64, |product, &n| product.checked_mul(n)).unwrap_or(u64::MAX);
        let length = match &v.init {
            Some(Initializer::List(list)) => list.len() as u64,
            _ => return Err(invalid(v.span, format!("`{}` has no size", v.name))),
        };
        size = [rest, u64::from(element), u64::from(v.vector)]
            .iter()
            .try_fold(length, |product, &n| product.checked_mul(n))
            .filter(|&bytes| bytes <= 1 << 40);
        refuse_if!(size.is_none(), invalid(v.span, format!("`{}` is too big", v.name)));
    }
    let bytes = size.unwrap_or_default().max(1);
    let mut writer = Writer { variable: v, index, bytes, init: Vec::new(), relocations: Vec::new() };
    if let Some(init) = &v.init {
        writer.write(init, 0, 0)?;
    }
    let Writer { init, relocations, .. } = writer;
    found.push(ModuleVariable { name, space: v.space, bytes, align: align_of(v)?, init, relocations });
    Ok(())
}

/// Writes the initial value of a variable.
struct Writer<'a> {
    variable: &'a Variable,
    index: &'a Index<'a>,
    bytes: u64,
    init: Vec<(u64, Vec<u8>)>,
    relocations: Vec<Relocation>,
}

impl Writer<'_> {
    /// Returns the bytes that an entry of a list at this depth covers.
    fn stride(&self, depth: usize) -> u64 {
        let inner =
            self.variable.dims.iter().skip(depth + 1).flatten().fold(1u64, |product, &n| product.saturating_mul(n));
        let vector = if depth < self.variable.dims.len() { u64::from(self.variable.vector) } else { 1 };
        (u64::from(self.variable.ty.bytes()) * vector).saturating_mul(inner.max(1))
    }

    fn write(&mut self, init: &Initializer, at: u64, depth: usize) -> Result<()> {
        let v = self.variable;
        let bytes = v.ty.bytes();
        let value = match init {
            Initializer::List(list) => {
                // A flat list for several dimensions is allowed: each entry is an element.
                let flat = !list.iter().any(|i| matches!(i, Initializer::List(_)));
                let stride = if flat { u64::from(bytes) } else { self.stride(depth) };
                for (i, inner) in list.iter().enumerate() {
                    self.write(inner, at.saturating_add(stride.saturating_mul(i as u64)), depth + 1)?;
                }
                return Ok(());
            }
            Initializer::Int(value) => match v.ty {
                Type::F32 => u128::from((*value as f32).to_bits()),
                Type::F64 => u128::from((*value as f64).to_bits()),
                _ => *value as u128,
            },
            Initializer::Float(value) => match (*value, v.ty) {
                (Immediate::F32(bits), Type::F64) => u128::from(f64::from(f32::from_bits(bits)).to_bits()),
                (Immediate::F32(bits), _) => u128::from(bits),
                (Immediate::F64(bits), Type::F32) => u128::from((f64::from_bits(bits) as f32).to_bits()),
                (Immediate::F64(bits), _) => u128::from(bits),
                (Immediate::Int(value), _) => value as u128,
            },
            Initializer::Symbol { name, offset, .. } => {
                refuse_if!(bytes < 4, unsupported(v.span, format!("part of an address in `{}`", v.name)));
                refuse_if!(at.saturating_add(u64::from(bytes)) > self.bytes, self.too_many());
                if let Some(function) = self.index.function(name) {
                    let address = self.index.callable(function, v.span)?.wrapping_add_signed(*offset);
                    self.put(at, &address.to_le_bytes()[..bytes.min(8) as usize]);
                    return Ok(());
                }
                let bytes = bytes.min(8);
                self.relocations.push(Relocation { at, bytes, symbol: name.clone(), offset: *offset });
                return Ok(());
            }
            Initializer::Other(text) => {
                return Err(unsupported(v.span, format!("the initializer `{text}` of `{}`", v.name)));
            }
        };
        refuse_if!(at.saturating_add(u64::from(bytes)) > self.bytes, self.too_many());
        self.put(at, &value.to_le_bytes()[..bytes as usize]);
        Ok(())
    }

    fn put(&mut self, at: u64, value: &[u8]) {
        match self.init.last_mut() {
            Some((start, piece)) if *start + piece.len() as u64 == at => piece.extend_from_slice(value),
            _ => self.init.push((at, value.to_vec())),
        }
    }

    fn too_many(&self) -> super::DecodeError {
        invalid(self.variable.span, format!("more initial values than `{}` has room for", self.variable.name))
    }
}
