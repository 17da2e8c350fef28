//! Constants: a line (two for 64 bits) for each value in a kernel.

use ptx::Span;
use ptx::ast::{Immediate, Type};

use crate::error::{Result, invalid, unsupported};
use crate::hash::QuickMap;
use arithmetic::lanes::{Class, Line, Src, WARP};
use program::{SharedConst, limits::CONSTANT_LINES};

/// The constants of a kernel: a line for each, which operations read as a negative register number.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pub(crate) lines: Vec<Line>,
    /// [`program::DecodedKernel::shared_consts`]
    pub(crate) shared: Vec<SharedConst>,
    known: QuickMap<(u64, ConstantKind), Src>,
}

/// Key of a constant: its value, size and meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ConstantKind {
    wide: bool,
    /// An address in shared memory, to which blocks of a cluster add their rank: never shares a line with a number.
    shared: bool,
}

impl Constants {
    /// Returns the source of a 32-bit constant, which is added if it is new.
    pub(crate) fn bits32(&mut self, value: u32, span: Span) -> Result<Src> {
        self.add(u64::from(value), ConstantKind { wide: false, shared: false }, span)
    }

    /// Returns the source of a 64-bit constant, which is added if it is new.
    pub(crate) fn bits64(&mut self, value: u64, span: Span) -> Result<Src> {
        self.add(value, ConstantKind { wide: true, shared: false }, span)
    }

    /// Returns an address in shared memory, as a constant of a class other than predicates.
    pub(crate) fn shared_address(&mut self, value: u64, class: Class, span: Span) -> Result<Src> {
        let wide = class == Class::Bits64;
        let value = if wide { value } else { u64::from(value as u32) };
        self.add(value, ConstantKind { wide, shared: true }, span)
    }

    fn add(&mut self, value: u64, kind: ConstantKind, span: Span) -> Result<Src> {
        if let Some(&src) = self.known.get(&(value, kind)) {
            return Ok(src);
        }
        if self.lines.len() + 2 > CONSTANT_LINES {
            return Err(unsupported(span, "a kernel with so many different constants"));
        }
        let src = !(self.lines.len() as i32);
        if kind.shared {
            self.shared.push(SharedConst { line: self.lines.len() as u32, is_wide: kind.wide });
        }
        if kind.wide {
            // Two lines, read as 32 `u64`: the first holds lanes 0–15.
            let [a, b, c, d, e, f, g, h] = value.to_ne_bytes();
            let halves = [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])];
            let line = Line(std::array::from_fn(|lane| halves[lane % 2]));
            self.lines.extend([line, line]);
        } else {
            self.lines.push(Line([value as u32; WARP]));
        }
        self.known.insert((value, kind), src);
        Ok(src)
    }

    pub(crate) fn value32(&self, src: Src) -> Option<u32> {
        self.lines.get(usize::try_from(!src).ok()?).map(|line| line.0[0])
    }

    /// Returns the value of a 32-bit source, if it is a constant.
    pub(crate) fn value_of(&self, src: Src) -> Option<u32> {
        if src < 0 { self.value32(src) } else { None }
    }

    pub(crate) fn value64(&self, src: Src) -> Option<u64> {
        let line = self.lines.get(usize::try_from(!src).ok()?)?;
        let [a, b, ..] = line.0.map(u32::to_ne_bytes);
        Some(u64::from_ne_bytes([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]))
    }
}

/// Returns the bits of a number as an operand of `class`, of the instruction type `ty` if there is one.
pub(crate) fn bits(value: Immediate, class: Class, ty: Option<Type>, span: Span) -> Result<u64> {
    let float = matches!(ty, Some(Type::F32 | Type::F64));
    Ok(match (value, class) {
        (_, Class::Pred) => return Err(invalid(span, "a number where a predicate belongs")),
        (Immediate::Int(_), _) if float => {
            return Err(invalid(span, "an integer where a floating-point number belongs (write 0.0)"));
        }
        (Immediate::Int(v), Class::Bits64) => v as u64,
        (Immediate::Int(v), Class::Bits32) => match ty.map(Type::bytes) {
            Some(1) => u64::from(v as u8),
            Some(2) => u64::from(v as u16),
            _ => u64::from(v as u32),
        },
        (Immediate::F32(bits), Class::Bits32) => u64::from(bits),
        (Immediate::F32(bits), Class::Bits64) => f64::from(f32::from_bits(bits)).to_bits(),
        (Immediate::F64(bits), Class::Bits64) => bits,
        (Immediate::F64(bits), Class::Bits32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
    })
}
