//! Floating-point arithmetic and conversions.

use ptx::ast::Type;
use sass::operation::Modifier;

use super::{SassLowering, emit::PendingResult};
use crate::error::Result;
use crate::virtual_op::TRUE;
use arithmetic::lanes::Src;
use arithmetic::{Builtin, ResultPart, SassStep};

/// Kinds of number that a comparison reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloatOperands {
    Single,
    Double,
    /// Pairs of `f16` or `bf16`.
    Halves,
}

/// Kinds of number that a conversion reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    IntegerToFloat,
    FloatToInteger,
    /// To a whole number of the same type.
    FloatToWhole,
    FloatToFloat,
}

/// PTX names of comparisons; the first six compare integers too.
#[rustfmt::skip]
pub(super) const COMPARISONS: [(Modifier, &str); 14] = [
    (Modifier::Lt, "lt"), (Modifier::Eq, "eq"), (Modifier::Le, "le"), (Modifier::Gt, "gt"), (Modifier::Ne, "ne"),
    (Modifier::Ge, "ge"), (Modifier::Num, "num"), (Modifier::Nan, "nan"), (Modifier::Ltu, "ltu"),
    (Modifier::Equ, "equ"), (Modifier::Leu, "leu"), (Modifier::Gtu, "gtu"), (Modifier::Neu, "neu"),
    (Modifier::Geu, "geu"),
];

#[rustfmt::skip]
const INTEGERS: [(Modifier, Type); 8] = [
    (Modifier::U8, Type::U8), (Modifier::S8, Type::S8), (Modifier::U16, Type::U16), (Modifier::S16, Type::S16),
    (Modifier::U32, Type::U32), (Modifier::S32, Type::S32), (Modifier::U64, Type::U64), (Modifier::S64, Type::S64),
];

#[rustfmt::skip]
const FLOATS: [(Modifier, Type); 4] = [
    (Modifier::F64, Type::F64), (Modifier::F16, Type::F16), (Modifier::F32, Type::F32), (Modifier::Bf16, Type::Bf16),
];

/// PTX names of the directions of rounding, without to-nearest, which has no modifier.
const ROUNDINGS: [(Modifier, &str); 3] = [(Modifier::Rm, "rm"), (Modifier::Rp, "rp"), (Modifier::Rz, "rz")];

impl SassLowering<'_> {
    /// Takes `RM.FTZ.SAT` as PTX modifiers of an operation that requires a rounding.
    fn modes(&mut self, ty: &'static str) -> Vec<&'static str> {
        let round = self.take_choice(&ROUNDINGS).unwrap_or("rn");
        let flags = self.take_flags(&[(Modifier::Ftz, "ftz"), (Modifier::Sat, "sat")]);
        [&[round], &flags[..], &[ty]].concat()
    }

    /// Lowers `FADD`, `FMUL`, `FFMA`, by the PTX instruction of `n` sources.
    pub(super) fn single(&mut self, opcode: &str, n: usize) -> Result<()> {
        let sources = self.floats(n)?;
        let modes = self.modes("f32");
        self.compute_result(opcode, &modes, &sources)
    }

    /// Lowers `DADD`, `DMUL`, `DFMA`: arithmetic of `f64` with `n` sources.
    pub(super) fn double(&mut self, opcode: &str, n: usize) -> Result<()> {
        let sources = (0..n).map(|at| self.f64(at)).collect::<Result<Vec<_>>>()?;
        let modes = self.modes("f64");
        let function = self.ptx(opcode, &modes)?;
        self.wide_result(function, &sources)
    }

    /// Lowers `HADD2`, `HMUL2`, `HFMA2`: arithmetic of pairs of `f16` or `bf16` with `n` sources.
    pub(super) fn halves(&mut self, opcode: &str, n: usize) -> Result<()> {
        if opcode == "add" && self.take_modifier(Modifier::F32) {
            // The sum of two `f16` as `f32`: this is how compilers convert a half to `f32`.
            let a = self.half(0)?;
            let b = self.half(1)?;
            let [a, b] = [self.compute("cvt", &["f32", "f16"], &[a])?, self.compute("cvt", &["f32", "f16"], &[b])?];
            let modes = self.modes("f32");
            return self.compute_result("add", &modes, &[a, b]);
        }
        let bf16 = self.take_modifier(Modifier::Bf16V2) || self.take_modifier(Modifier::Bf16);
        let ty = if bf16 { "bf16x2" } else { "f16x2" };
        let sources = (0..n).map(|at| self.pair_of_halves(at)).collect::<Result<Vec<_>>>()?;
        let mut modes = self.modes(ty);
        if self.take_modifier(Modifier::Relu) {
            // The instruction has a predicate that compilers leave at its default.
            refuse_if!(self.known_predicate(n)? != Some(true), self.unsupported());
            modes.insert(modes.len() - 1, "relu");
        }
        self.compute_result(opcode, &modes, &sources)
    }

    /// Lowers `FMNMX`, `DMNMX`: the smaller one where the predicate holds, else the larger one.
    pub(super) fn extremum(&mut self) -> Result<()> {
        let mut modes = self.take_flags(&[(Modifier::Ftz, "ftz"), (Modifier::Nan, "NaN")]);
        let xors_signs = self.take_modifier(Modifier::Xorsign);
        if xors_signs {
            modes.extend(["xorsign", "abs"]);
        }
        modes.push("f32");
        // Compares magnitudes; the sign is that of the sources' product.
        let sources = if xors_signs { vec![self.magnitude(0)?, self.magnitude(1)?] } else { self.floats(2)? };
        self.min_or_max(&modes, &sources, 2)
    }

    /// Computes the minimum of two sources where a predicate holds, else the maximum.
    pub(super) fn min_or_max(&mut self, modifiers: &[&str], sources: &[Src], by: usize) -> Result<()> {
        let [min, max] = [self.ptx("min", modifiers)?, self.ptx("max", modifiers)?];
        let dst = self.dst()?;
        match self.known_predicate(by)? {
            Some(true) => self.result(min, dst, sources),
            Some(false) => self.result(max, dst, sources),
            None => {
                let by = self.predicate(by)?;
                let a = self.value(min, sources)?;
                let b = self.value(max, sources)?;
                let function = self.ptx("selp", &["b32"])?;
                self.result(function, dst, &[a, b, by])
            }
        }
    }

    /// Takes a source of `XORSIGN`, before its sign is removed.
    fn magnitude(&mut self, at: usize) -> Result<Src> {
        let operand = self.take_source(at).ok_or_else(|| self.unsupported())?;
        if operand.absolute && !operand.negated { self.word(operand.value, 0) } else { Err(self.unsupported()) }
    }

    /// Takes the PTX modifiers of a comparison, with the operation on its predicate.
    fn comparison(&mut self) -> Result<Vec<&'static str>> {
        let name = self.take_choice(&COMPARISONS).ok_or_else(|| self.unsupported())?;
        let mut modifiers = vec![name, self.boolean()];
        modifiers.extend(self.take_flags(&[(Modifier::Ftz, "ftz")]));
        Ok(modifiers)
    }

    /// Lowers `FSETP`, `DSETP`, `HSETP2`: compares and sets predicates.
    pub(super) fn compare_floats(&mut self, operands: FloatOperands) -> Result<()> {
        if self.take_modifier(Modifier::Min) || self.take_modifier(Modifier::Max) {
            return self.compare_for_extremum();
        }
        let mut modifiers = self.comparison()?;
        let (ty, a, b) = self.compared_floats(operands)?;
        modifiers.push(ty);
        let with = self.predicate(2)?;
        self.two_predicates(&modifiers, &[a, b, with])
    }

    /// Lowers `FSET`, `HSET2`: all ones, or 1.0 with `BF`.
    pub(super) fn set_floats(&mut self, operands: FloatOperands) -> Result<()> {
        let mut modifiers = self.comparison()?;
        let (ty, a, b) = self.compared_floats(operands)?;
        modifiers.extend([if self.take_modifier(Modifier::Bf) { ty } else { "u32" }, ty]);
        let with = self.predicate(2)?;
        self.compute_result("set", &modifiers, &[a, b, with])
    }

    /// Takes the two sources of a comparison, with their PTX type.
    fn compared_floats(&mut self, operands: FloatOperands) -> Result<(&'static str, Src, Src)> {
        Ok(match operands {
            FloatOperands::Double => ("f64", self.f64(0)?, self.f64(1)?),
            FloatOperands::Single => ("f32", self.f32(0)?, self.f32(1)?),
            FloatOperands::Halves => {
                let ty = if self.take_modifier(Modifier::Bf16V2) { "bf16x2" } else { "f16x2" };
                (ty, self.pair_of_halves(0)?, self.pair_of_halves(1)?)
            }
        })
    }

    /// Lowers `DSETP.MIN`, `DSETP.MAX`: true if the first source is the result, and if both are NaN.
    fn compare_for_extremum(&mut self) -> Result<()> {
        let opcode = if self.take_modifier(Modifier::Min) { "min" } else { "max" };
        refuse_if!(self.boolean() != "and" || self.known_predicate(2)? != Some(true), self.unsupported());
        let (a, b) = (self.f64(0)?, self.f64(1)?);
        let result = self.compute(opcode, &["f64"], &[a, b])?;
        let number = self.compute("setp", &["num", "f64"], &[a, a])?;
        let first = self.compute("setp", &["eq", "and", "u64"], &[result, a, number])?;
        let nan = self.compute("setp", &["nan", "f64"], &[a, a])?;
        let both = self.compute("setp", &["nan", "and", "f64"], &[b, b, nan])?;
        self.write_predicates(|_, at| Ok([first, both][at]))
    }

    /// Emits both results of a comparison `modifiers`, combined with a predicate: the last of `sources`.
    pub(super) fn two_predicates(&mut self, modifiers: &[&str], mut sources: &[Src]) -> Result<()> {
        let mut modifiers = modifiers.to_vec();
        // Of all comparisons, plain ones take the least time.
        if sources[2] == TRUE as Src && modifiers[1] == "and" {
            modifiers.remove(1);
            sources = &sources[..2];
        }
        let mut writes = Vec::new();
        for (at, part) in [ResultPart::First, ResultPart::Second].into_iter().enumerate() {
            if let Some(dst) = self.wanted_predicate(at) {
                let function = self.part("setp", &modifiers, part)?;
                writes.push((dst, function));
            }
        }
        if let [(dst, function)] = writes[..] {
            return self.result(function, dst, sources);
        }
        let writes = writes
            .into_iter()
            .map(|(dst, function)| Ok(PendingResult::Pred(dst, self.value(function, sources)?)))
            .collect::<Result<Vec<_>>>()?;
        self.write(writes)
    }

    /// Lowers `FSEL`: chooses between two floats by a predicate.
    pub(super) fn select_float(&mut self) -> Result<()> {
        let sources = self.floats(2)?;
        let by = self.predicate(2)?;
        self.compute_result("selp", &["b32"], &[sources[0], sources[1], by])
    }

    /// Lowers `MUFU`. Results are those of the approximate PTX instructions.
    pub(super) fn special_function(&mut self) -> Result<()> {
        if self.take_modifier(Modifier::Rcp64h) || self.take_modifier(Modifier::Rsq64h) {
            let opcode = if self.take_modifier(Modifier::Rcp64h) { "rcp" } else { "rsqrt" };
            let high = self.f32(0)?;
            let zero = self.number(0)?;
            let source = self.value(self.builtin(Builtin::Pack64), &[zero, high])?;
            let result = self.compute(opcode, &["approx", "ftz", "f64"], &[source])?;
            return self.only_result(self.builtin(Builtin::Hi32Of64), &[result]);
        }
        let source = self.f32(0)?;
        let functions = [
            (Modifier::Rcp, "rcp"),
            (Modifier::Rsq, "rsqrt"),
            (Modifier::Sqrt, "sqrt"),
            (Modifier::Ex2, "ex2"),
            (Modifier::Lg2, "lg2"),
        ];
        let function = if self.take_modifier(Modifier::F16) || self.take_modifier(Modifier::Bf16) {
            return Err(self.unsupported());
        } else if self.take_modifier(Modifier::Sin) {
            self.step(SassStep::Sine)
        } else if self.take_modifier(Modifier::Cos) {
            self.step(SassStep::Cosine)
        } else if self.take_modifier(Modifier::Tanh) {
            self.ptx("tanh", &["approx", "f32"])?
        } else {
            let opcode = self.take_choice(&functions).ok_or_else(|| self.unsupported())?;
            self.ptx(opcode, &["approx", "ftz", "f32"])?
        };
        self.only_result(function, &[source])
    }

    /// Lowers `FCHK`: true if a division needs the slow path.
    pub(super) fn check_division(&mut self) -> Result<()> {
        let sources = [self.f32(0)?, self.f32(1)?];
        match self.wanted_predicate(0) {
            Some(dst) => self.result(self.step(SassStep::DivisionIsHard), dst, &sources),
            None => Ok(()),
        }
    }

    /// Lowers `I2F`, `I2FP`, `F2I`, `F2F`, `FRND`: types and roundings as PTX names them.
    pub(super) fn convert(&mut self, conversion: Conversion) -> Result<()> {
        let (to, from) = self.converted_types(conversion)?;
        let round = match conversion {
            Conversion::FloatToInteger | Conversion::FloatToWhole => self
                .take_choice(&[(Modifier::Floor, "rmi"), (Modifier::Ceil, "rpi"), (Modifier::Trunc, "rzi")])
                .unwrap_or("rni"),
            Conversion::IntegerToFloat | Conversion::FloatToFloat => self.take_choice(&ROUNDINGS).unwrap_or("rn"),
        };
        let widens = conversion == Conversion::FloatToFloat
            && matches!((to, from), (Type::F64, _) | (Type::F32, Type::F16 | Type::Bf16));
        let mut modifiers = Vec::new();
        if !widens {
            modifiers.push(round);
        }
        modifiers.extend(self.take_flags(&[(Modifier::Ftz, "ftz")]));
        modifiers.extend([to.name(), from.name()]);
        // Decides if NaN becomes 0. PTX has no choice.
        let narrow = to.bytes() < 8 && from != Type::F64;
        refuse_if!(
            conversion == Conversion::FloatToInteger && self.take_modifier(Modifier::Ntz) != narrow,
            self.unsupported()
        );
        let source = match from {
            Type::F64 => self.f64(0)?,
            Type::U64 | Type::S64 => self.wide(0)?,
            Type::F32 => self.f32(0)?,
            Type::F16 | Type::Bf16 => self.half(0)?,
            Type::U8 | Type::S8 | Type::U16 | Type::S16 => self.narrow(0, from)?,
            _ => self.int(0)?,
        };
        let function = self.ptx("cvt", &modifiers)?;
        match to {
            Type::F64 | Type::U64 | Type::S64 => self.wide_result(function, &[source]),
            // The sign fills the register.
            Type::S16 => {
                let value = self.value(function, &[source])?;
                self.only_result(self.builtin(Builtin::Sext32(16)), &[value])
            }
            _ => self.only_result(function, &[source]),
        }
    }

    /// Takes the types of a conversion: that of the result, that of the source.
    fn converted_types(&mut self, conversion: Conversion) -> Result<(Type, Type)> {
        if conversion == Conversion::FloatToFloat {
            // `F2F.F64.F32` names the result's type first.
            let types = self.take_all(&FLOATS);
            let [to, from] = types[..] else { return Err(self.unsupported()) };
            return Ok((to, from));
        }
        let float = self.take_choice(&FLOATS[..2]).unwrap_or(Type::F32);
        if conversion == Conversion::FloatToWhole {
            return Ok((float, float));
        }
        let integer = self.take_choice(&INTEGERS).unwrap_or(Type::S32);
        match conversion {
            Conversion::IntegerToFloat => Ok((float, integer)),
            _ => Ok((integer, float)),
        }
    }

    /// Lowers `F2FP.F16.F32.PACK_AB`: two `f32` to a pair of halves.
    pub(super) fn pack_halves(&mut self) -> Result<()> {
        let ty = match (self.take_modifier(Modifier::Bf16), self.take_modifier(Modifier::F16)) {
            (true, _) => "bf16x2",
            (_, true) => "f16x2",
            _ => return Err(self.unsupported()),
        };
        refuse_if!(!self.take_modifier(Modifier::PackAb) || !self.take_modifier(Modifier::F32), self.unsupported());
        let mut modifiers = vec![if self.take_modifier(Modifier::Rz) { "rz" } else { "rn" }];
        modifiers.extend(self.take_flags(&[(Modifier::Relu, "relu"), (Modifier::Satfinite, "satfinite")]));
        modifiers.extend([ty, "f32"]);
        let sources = self.floats(2)?;
        self.compute_result("cvt", &modifiers, &sources)
    }
}
