//! Floating-point arithmetic and conversions.

use super::Lower;
use super::emit::PendingResult;
use crate::error::Result;
use arithmetic::lanes::Src;
use arithmetic::{Builtin, SassStep};

impl Lower<'_> {
    /// `RM.FTZ.SAT` as PTX modifiers. `rounds`: PTX requires a rounding.
    fn modes(&self, rounds: bool, ty: &'static str) -> Vec<&'static str> {
        let round = self.first_of(&["rm", "rp", "rz"]).or(rounds.then_some("rn"));
        let flags = [self.has("FTZ").then_some("ftz"), self.has("SAT").then_some("sat")];
        round.into_iter().chain(flags.into_iter().flatten()).chain([ty]).collect()
    }

    /// `FADD`, `FMUL`, `FFMA`, by the PTX instruction of `n` sources.
    pub(super) fn single(&mut self, opcode: &str, n: usize) -> Result<()> {
        let sources = self.floats(n)?;
        self.compute_result(opcode, &self.modes(true, "f32"), &sources)
    }

    /// `DADD`, `DMUL`, `DFMA`: arithmetic of `f64` with `n` sources.
    pub(super) fn double(&mut self, opcode: &str, n: usize) -> Result<()> {
        let sources = (0..n).map(|at| self.f64(at)).collect::<Result<Vec<_>>>()?;
        let function = self.ptx(opcode, &self.modes(true, "f64"))?;
        self.wide_result(function, &sources)
    }

    /// `HADD2`, `HMUL2`, `HFMA2`: arithmetic of pairs of `f16` or `bf16` with `n` sources.
    pub(super) fn halves(&mut self, opcode: &str, n: usize) -> Result<()> {
        if opcode == "add" && self.has("F32") {
            // The sum of two `f16` as `f32`: compilers read a half so.
            let a = self.half(0)?;
            let b = self.half(1)?;
            let [a, b] =
                [self.compute("cvt", &["f32", "f16"], &[a])?, self.compute("cvt", &["f32", "f16"], &[b])?];
            return self.compute_result("add", &self.modes(true, "f32"), &[a, b]);
        }
        let bf16 = self.has("BF16_V2") || self.has("BF16");
        let ty = if bf16 { "bf16x2" } else { "f16x2" };
        let sources = (0..n).map(|at| self.pair_of_halves(at)).collect::<Result<Vec<_>>>()?;
        let mut modes = self.modes(true, ty);
        if self.has("RELU") {
            // The instruction has a predicate that compilers leave at its default.
            refuse_if!(self.known_predicate(n)? != Some(true), self.unsupported());
            modes.insert(modes.len() - 1, "relu");
        }
        self.compute_result(opcode, &modes, &sources)
    }

    /// `FMNMX`, `DMNMX`: the smaller one where the predicate holds, else the larger one.
    pub(super) fn extremum(&mut self) -> Result<()> {
        let mut modes = Vec::new();
        for (name, mode) in [("FTZ", "ftz"), ("NAN", "NaN"), ("XORSIGN", "xorsign")] {
            if self.has(name) {
                modes.push(mode);
                if mode == "xorsign" {
                    modes.push("abs");
                }
            }
        }
        modes.push("f32");
        // Compares magnitudes; the sign is that of the sources' product.
        let sources = match self.has("XORSIGN") {
            true => vec![self.magnitude(0)?, self.magnitude(1)?],
            false => self.floats(2)?,
        };
        let [min, max] = [self.ptx("min", &modes)?, self.ptx("max", &modes)?];
        self.chosen(min, max, &sources, 2)
    }

    /// Chooses between two functions of the same sources by a predicate.
    pub(super) fn chosen(
        &mut self,
        first: super::emit::Function,
        second: super::emit::Function,
        sources: &[Src],
        by: usize,
    ) -> Result<()> {
        let dst = self.dst()?;
        match self.known_predicate(by)? {
            Some(true) => self.result(first, dst, sources),
            Some(false) => self.result(second, dst, sources),
            None => {
                let by = self.predicate(by)?;
                let a = self.value(first, sources)?;
                let b = self.value(second, sources)?;
                let function = self.ptx("selp", &["b32"])?;
                self.result(function, dst, &[a, b, by])
            }
        }
    }

    /// A source of `XORSIGN`, before its sign is removed.
    fn magnitude(&mut self, at: usize) -> Result<Src> {
        let operand = self.look_at(at).ok_or_else(|| self.unsupported())?;
        match operand.absolute && !operand.negated {
            true => self.word(operand.value, 0),
            false => Err(self.unsupported()),
        }
    }

    /// PTX modifiers of a comparison, with the operation on its predicate.
    fn comparison(&self) -> Result<Vec<&'static str>> {
        let names =
            ["lt", "eq", "le", "gt", "ne", "ge", "num", "nan", "ltu", "equ", "leu", "gtu", "neu", "geu"];
        let name = self.first_of(&names).ok_or_else(|| self.unsupported())?;
        let mut modifiers = vec![name, self.boolean()];
        if self.has("FTZ") {
            modifiers.push("ftz");
        }
        Ok(modifiers)
    }

    /// `FSETP`, `DSETP`, `HSETP2`: compares and sets predicates.
    pub(super) fn compare_floats(&mut self, ty: &'static str) -> Result<()> {
        if self.has("MIN") || self.has("MAX") {
            return self.compare_for_extremum();
        }
        let mut modifiers = self.comparison()?;
        let (ty, a, b) = match ty {
            "f64" => (ty, self.f64(0)?, self.f64(1)?),
            "f32" => (ty, self.f32(0)?, self.f32(1)?),
            _ => (self.type_of_halves(), self.pair_of_halves(0)?, self.pair_of_halves(1)?),
        };
        modifiers.push(ty);
        let with = self.predicate(2)?;
        self.two_predicates("setp", &modifiers, &[a, b, with])
    }

    /// `FSET`, `HSET2`: all ones, or 1.0 with `BF`.
    pub(super) fn set_floats(&mut self, ty: &'static str) -> Result<()> {
        let mut modifiers = self.comparison()?;
        let (ty, a, b) = match ty {
            "f32" => (ty, self.f32(0)?, self.f32(1)?),
            _ => (self.type_of_halves(), self.pair_of_halves(0)?, self.pair_of_halves(1)?),
        };
        modifiers.extend([if self.has("BF") { ty } else { "u32" }, ty]);
        let with = self.predicate(2)?;
        self.compute_result("set", &modifiers, &[a, b, with])
    }

    fn type_of_halves(&self) -> &'static str {
        if self.has("BF16_V2") { "bf16x2" } else { "f16x2" }
    }

    /// `DSETP.MIN`, `DSETP.MAX`: true if the first source is the result, and if both are NaN.
    fn compare_for_extremum(&mut self) -> Result<()> {
        let opcode = if self.has("MIN") { "min" } else { "max" };
        refuse_if!(self.boolean() != "and" || self.known_predicate(2)? != Some(true), self.unsupported());
        let (a, b) = (self.f64(0)?, self.f64(1)?);
        let result = self.compute(opcode, &["f64"], &[a, b])?;
        let number = self.compute("setp", &["num", "f64"], &[a, a])?;
        let first = self.compute("setp", &["eq", "and", "u64"], &[result, a, number])?;
        let nan = self.compute("setp", &["nan", "f64"], &[a, a])?;
        let both = self.compute("setp", &["nan", "and", "f64"], &[b, b, nan])?;
        let mut writes = Vec::new();
        for (at, value) in [first, both].into_iter().enumerate() {
            if let Some(dst) = self.wanted_predicate(at) {
                writes.push(PendingResult::Pred(dst, value));
            }
        }
        self.write(writes)
    }

    /// Emits both results of a comparison.
    pub(super) fn two_predicates(&mut self, opcode: &str, modifiers: &[&str], sources: &[Src]) -> Result<()> {
        let mut writes = Vec::new();
        for part in 0..2 {
            if let Some(dst) = self.wanted_predicate(part) {
                let function = self.part(opcode, modifiers, part as u8)?;
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

    /// `FSEL`: chooses between two floats by a predicate.
    pub(super) fn select_float(&mut self) -> Result<()> {
        let sources = self.floats(2)?;
        let by = self.predicate(2)?;
        self.compute_result("selp", &["b32"], &[sources[0], sources[1], by])
    }

    /// `MUFU`. Results are those of the approximate PTX instructions: exact values rounded to nearest.
    pub(super) fn special_function(&mut self) -> Result<()> {
        if self.has("RCP64H") || self.has("RSQ64H") {
            let opcode = if self.has("RCP64H") { "rcp" } else { "rsqrt" };
            let high = self.f32(0)?;
            let zero = self.number(0)?;
            let source = self.value(self.builtin(Builtin::Pack64), &[zero, high])?;
            let result = self.compute(opcode, &["approx", "ftz", "f64"], &[source])?;
            return self.only_result(self.builtin(Builtin::Hi32Of64), &[result]);
        }
        let source = self.f32(0)?;
        let functions = [("RCP", "rcp"), ("RSQ", "rsqrt"), ("SQRT", "sqrt"), ("EX2", "ex2"), ("LG2", "lg2")];
        let function = if self.has("F16") || self.has("BF16") {
            return Err(self.unsupported());
        } else if self.has("SIN") {
            self.step(SassStep::Sine)
        } else if self.has("COS") {
            self.step(SassStep::Cosine)
        } else if self.has("TANH") {
            self.ptx("tanh", &["approx", "f32"])?
        } else {
            let opcode = self.choice(&functions).ok_or_else(|| self.unsupported())?;
            self.ptx(opcode, &["approx", "ftz", "f32"])?
        };
        self.only_result(function, &[source])
    }

    /// `FCHK`: true if a division needs the slow path.
    pub(super) fn check_division(&mut self) -> Result<()> {
        let sources = [self.f32(0)?, self.f32(1)?];
        match self.wanted_predicate(0) {
            Some(dst) => self.result(self.step(SassStep::DivisionIsHard), dst, &sources),
            None => Ok(()),
        }
    }

    /// `I2F`, `I2FP`, `F2I`, `F2F`, `FRND`: types and roundings as PTX names them.
    pub(super) fn convert(&mut self, kind: &str) -> Result<()> {
        let integer = || {
            let integers = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
            self.first_of(&integers).unwrap_or("s32")
        };
        let float = || self.first_of(&["f64", "f16"]).unwrap_or("f32");
        let (to, from) = match kind {
            "to float" => (float(), integer()),
            "to integer" => (integer(), float()),
            "rounded" => (float(), float()),
            _ => {
                // `F2F.F64.F32` names the result's type first.
                let name = |modifier| match modifier {
                    "F16" => Some("f16"),
                    "F32" => Some("f32"),
                    "F64" => Some("f64"),
                    "BF16" => Some("bf16"),
                    _ => None,
                };
                let list: Vec<&str> = self.modifiers().into_iter().filter_map(name).collect();
                ["F16", "F32", "F64", "BF16"].iter().for_each(|name| _ = self.has(name));
                let [to, from] = list[..] else { return Err(self.unsupported()) };
                (to, from)
            }
        };
        let integral = matches!(kind, "to integer" | "rounded");
        let round = match integral {
            true => self.choice(&[("FLOOR", "rmi"), ("CEIL", "rpi"), ("TRUNC", "rzi")]).unwrap_or("rni"),
            false => self.first_of(&["rm", "rp", "rz"]).unwrap_or("rn"),
        };
        let widens = kind == "between" && matches!((to, from), ("f64", _) | ("f32", "f16" | "bf16"));
        let mut modifiers = Vec::new();
        if !widens {
            modifiers.push(round);
        }
        if self.has("FTZ") {
            modifiers.push("ftz");
        }
        modifiers.extend([to, from]);
        // Decides if NaN becomes 0. PTX has no choice.
        let narrow = !to.ends_with("64") && from != "f64";
        refuse_if!(kind == "to integer" && self.has("NTZ") != narrow, self.unsupported());
        let source = match from {
            "f64" => self.f64(0)?,
            "u64" | "s64" => self.wide(0)?,
            "f32" => self.f32(0)?,
            "f16" | "bf16" => self.half(0)?,
            "u8" | "s8" | "u16" | "s16" => self.narrow(0, from)?,
            _ => self.int(0)?,
        };
        let function = self.ptx("cvt", &modifiers)?;
        match to {
            "f64" | "u64" | "s64" => self.wide_result(function, &[source]),
            // The sign fills the register.
            "s16" => {
                let value = self.value(function, &[source])?;
                self.only_result(self.builtin(Builtin::Sext32(16)), &[value])
            }
            _ => self.only_result(function, &[source]),
        }
    }

    /// `F2FP.F16.F32.PACK_AB`: two `f32` to a pair of halves.
    pub(super) fn pack_halves(&mut self) -> Result<()> {
        let ty = match (self.has("BF16"), self.has("F16")) {
            (true, _) => "bf16x2",
            (_, true) => "f16x2",
            _ => return Err(self.unsupported()),
        };
        refuse_if!(!self.has("PACK_AB") || !self.has("F32"), self.unsupported());
        let mut modifiers = vec![if self.has("RZ") { "rz" } else { "rn" }];
        for (name, mode) in [("RELU", "relu"), ("SATFINITE", "satfinite")] {
            if self.has(name) {
                modifiers.push(mode);
            }
        }
        modifiers.extend([ty, "f32"]);
        let sources = self.floats(2)?;
        self.compute_result("cvt", &modifiers, &sources)
    }
}
