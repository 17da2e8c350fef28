//! Types after names are resolved, their layout, and their names in symbols.

use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use crate::ssa::Num;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Void,
    Num(Num),
    /// `nullptr`
    Null,
    Pointer(Rc<Qualified>),
    /// The number of elements is 0 for `extern __shared__` arrays.
    Array(Rc<Qualified>, u64),
    Struct(Rc<StructType>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Qualified {
    pub ty: Type,
    pub is_const: bool,
    pub is_volatile: bool,
}

#[derive(Debug)]
pub(crate) struct StructType {
    pub name: String,
    pub fields: Vec<Field>,
    pub bytes: u64,
    pub align: u64,
}

/// A file has one structure of a name, and its arguments are part of the name.
impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub name: String,
    pub ty: Qualified,
    pub offset: u64,
}

pub(crate) const INT: Type = Type::Num(Num::S32);
pub(crate) const BOOL: Type = Type::Num(Num::Bool);

/// Scalars of a local variable that may become values; larger ones lie in memory.
pub(crate) const MAX_PARTS: usize = 2048;

impl From<Type> for Qualified {
    fn from(ty: Type) -> Self {
        Self { ty, is_const: false, is_volatile: false }
    }
}

impl Type {
    pub(crate) fn pointer(to: Qualified) -> Type {
        Type::Pointer(Rc::new(to))
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Type::Void => 1,
            Type::Num(num) => num.bytes(),
            Type::Null | Type::Pointer(_) => 8,
            Type::Array(of, n) => of.ty.bytes().saturating_mul(*n),
            Type::Struct(of) => of.bytes,
        }
    }

    pub(crate) fn align(&self) -> u64 {
        match self {
            Type::Array(of, _) => of.ty.align(),
            Type::Struct(of) => of.align,
            other => other.bytes(),
        }
    }

    /// Returns the type of a scalar as memory and registers hold it.
    pub(crate) fn num(&self) -> Option<Num> {
        match self {
            Type::Num(num) => Some(num.held()),
            Type::Null | Type::Pointer(_) => Some(Num::U64),
            _ => None,
        }
    }

    /// Returns whether two types are the same but for `const` of elements.
    pub(crate) fn is_same(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Array(a, n), Type::Array(b, m)) => n == m && a.ty.is_same(&b.ty),
            (a, b) => a == b,
        }
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self, Type::Pointer(_) | Type::Null)
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Type::Num(num) if !num.is_float())
    }

    /// Lists the scalars with their offsets; `None` where there are too many.
    pub(crate) fn parts(&self) -> Option<Vec<(u64, Num)>> {
        fn add(ty: &Type, at: u64, parts: &mut Vec<(u64, Num)>, n_seen: &mut usize) -> Option<()> {
            *n_seen += 1;
            match ty {
                Type::Void => {}
                Type::Array(of, n) => {
                    for i in 0..*n {
                        add(&of.ty, at + i * of.ty.bytes(), parts, n_seen)?;
                    }
                }
                Type::Struct(of) => {
                    of.fields.iter().try_for_each(|one| add(&one.ty.ty, at + one.offset, parts, n_seen))?
                }
                scalar => parts.push((at, scalar.num()?)),
            }
            (parts.len() <= MAX_PARTS && *n_seen <= 4 * MAX_PARTS).then_some(())
        }
        let mut parts = Vec::new();
        add(self, 0, &mut parts, &mut 0).map(|()| parts)
    }

    /// Writes the type as symbols have it, after the Itanium C++ ABI. `seen` has the parts that can be named again.
    pub(crate) fn mangle(&self, out: &mut String, seen: &mut Vec<String>) {
        match self {
            Type::Void | Type::Null => out.push('v'),
            Type::Num(num) => out.push(num.names().1),
            Type::Pointer(to) => substituted(format!("P{to:?}"), out, seen, |out, seen| {
                out.push('P');
                to.mangle(out, seen);
            }),
            Type::Array(of, n) => {
                out.push_str(&format!("A{n}_"));
                of.mangle(out, seen);
            }
            Type::Struct(of) => substituted(of.name.clone(), out, seen, |out, _| {
                let name = of.name.split('<').next().unwrap_or_default();
                out.push_str(&format!("{}{name}", name.len()));
            }),
        }
    }

    /// Makes a structure of fields in order.
    pub(crate) fn structure(name: &str, fields: Vec<(String, Qualified)>, align: u64) -> Type {
        let mut at = 0u64;
        let mut largest = align.max(1);
        let fields = fields.into_iter().map(|(name, ty)| {
            let align = ty.ty.align().max(1);
            largest = largest.max(align);
            let offset = at.next_multiple_of(align);
            at = offset.saturating_add(ty.ty.bytes());
            Field { name, ty, offset }
        });
        let fields: Vec<Field> = fields.collect();
        let bytes = at.max(1).next_multiple_of(largest);
        Type::Struct(Rc::new(StructType { name: name.to_owned(), fields, bytes, align: largest }))
    }

    /// Returns a built-in vector type, such as `float4`.
    pub(crate) fn vector(name: &str) -> Option<Type> {
        if name == "dim3" {
            let fields = ["x", "y", "z"].map(|name| (name.to_owned(), Type::Num(Num::U32).into()));
            return Some(Type::structure("dim3", fields.into(), 4));
        }
        let split = name.len().checked_sub(1)?;
        let n: u64 = name.get(split..)?.parse().ok().filter(|n| (1..=4).contains(n))?;
        let num = match name.get(..split)? {
            "char" => Num::S8,
            "uchar" => Num::U8,
            "short" => Num::S16,
            "ushort" => Num::U16,
            "int" => Num::S32,
            "uint" => Num::U32,
            "long" => Num::Long,
            "ulong" => Num::ULong,
            "longlong" => Num::S64,
            "ulonglong" => Num::U64,
            "float" => Num::F32,
            "double" => Num::F64,
            _ => return None,
        };
        let fields = ["x", "y", "z", "w"].into_iter().take(n as usize);
        let fields = fields.map(|name| (name.to_owned(), Type::Num(num).into())).collect();
        let align = if n == 3 { num.bytes() } else { (n * num.bytes()).min(16) };
        Some(Type::structure(name, fields, align))
    }
}

fn substituted(
    key: String, out: &mut String, seen: &mut Vec<String>, write: impl FnOnce(&mut String, &mut Vec<String>),
) {
    match seen.iter().position(|one| *one == key) {
        Some(0) => out.push_str("S_"),
        Some(at) => {
            out.push_str(&format!("S{}_", char::from_digit(at as u32 - 1, 36).unwrap_or('Z').to_ascii_uppercase()))
        }
        None => {
            write(out, seen);
            seen.push(key);
        }
    }
}

impl Qualified {
    pub(crate) fn mangle(&self, out: &mut String, seen: &mut Vec<String>) {
        if !self.is_const && !self.is_volatile {
            return self.ty.mangle(out, seen);
        }
        substituted(format!("{self:?}"), out, seen, |out, seen| {
            if self.is_volatile {
                out.push('V');
            }
            if self.is_const {
                out.push('K');
            }
            self.ty.mangle(out, seen);
        });
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::Null => f.write_str("nullptr"),
            Type::Num(num) => f.write_str(num.names().0),
            Type::Pointer(to) => write!(f, "{to}*"),
            Type::Array(..) => {
                let (mut element, mut dims) = (self, String::new());
                let mut is_const = false;
                while let Type::Array(of, n) = element {
                    dims += &if *n == 0 { "[]".to_owned() } else { format!("[{n}]") };
                    is_const |= of.is_const;
                    element = &of.ty;
                }
                write!(f, "{}{element}{dims}", if is_const { "const " } else { "" })
            }
            Type::Struct(of) => f.write_str(&of.name),
        }
    }
}

impl Display for Qualified {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_pointer = matches!(self.ty, Type::Pointer(_));
        match (self.is_const, is_pointer) {
            (true, true) => write!(f, "{} const", self.ty),
            (true, false) => write!(f, "const {}", self.ty),
            _ => self.ty.fmt(f),
        }
    }
}
