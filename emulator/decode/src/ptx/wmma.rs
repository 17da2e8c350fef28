//! `wmma`. PTX leaves the layout of fragments open; ours is that of sm_90, as ptxas 13 lays them out, and so are the
//! accesses: `ldmatrix` for 16-bit factors in shared memory, otherwise ordinary loads, transposed by `movmatrix` where
//! the matrix lies the other way. Rows of integers and bits along k are loaded alike, other integers byte by byte.
//! Products are those of `mma.sync`.

use ptx::ast::{Instruction, Operand, Type};

use super::address::space_of;
use super::{PtxLowering, special_registers};
use crate::error::Result;
use arithmetic::Builtin;
use arithmetic::lanes::{Class, NONE, Src};
use arithmetic::products::Overflow;
use program::{Access, Addr, MatrixAccess, MemSpace, Mma, OpKind};
use program::{mma::fragment::parse_shape, mma::layout::MmaForm};

/// A fragment: positions of its registers in the matrix.
///
/// A lane is at `lane / 4` along one axis, and at `lane % 4` times the elements of a register or pair along the other.
struct Fragment {
    /// Registers of the instruction: more than pieces, where they repeat.
    registers: usize,
    /// Start of each register or pair: along the first axis, then along the other.
    pieces: Vec<(u32, u32)>,
    /// Whether the first axis runs along rows.
    by_rows: bool,
    elements: Elements,
    /// Elements along both axes; bytes where these are smaller.
    size: [u32; 2],
    /// Elements in a byte, as a shift, where an element is smaller.
    in_byte: u32,
}

/// How the elements of a fragment lie in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    /// Two 16-bit elements per register.
    Halves,
    /// One element per register; its bytes.
    Single(u32),
    /// Neighbouring elements in two registers; bytes of each.
    Pairs(u32),
    /// Four bytes along k per register: integers or bits.
    Bytes,
}

impl Fragment {
    fn new(part: &str, shape: &str, ty: &str) -> Option<Self> {
        let [m, n, k] = parse_shape(shape)?;
        let in_byte = match ty {
            "s4" | "u4" => 1,
            "b1" => 3,
            _ => 0,
        };
        let k = k >> in_byte;
        let size = match part {
            "a" => [m, k],
            "b" => [k, n],
            _ => [m, n],
        };
        let flat = m == 8 && n == 32;
        if matches!(part, "c" | "d") {
            let pairs: Vec<(u32, u32)> = match (m, n) {
                (8, 8) => vec![(0, 0)],
                (16, 16) => vec![(0, 0), (8, 0), (0, 8), (8, 8)],
                _ => (0..4).map(|i| (8 * i, 0)).collect(),
            };
            let (elements, registers) = match ty {
                "f16" => (Elements::Halves, pairs.len()),
                "f32" | "s32" => (Elements::Pairs(4), 2 * pairs.len()),
                "f64" => (Elements::Pairs(8), 2 * pairs.len()),
                _ => return None,
            };
            return Some(Self { registers, pieces: pairs, by_rows: !flat, elements, size, in_byte });
        }
        // The operand with 16 rows of a product, or that with 8 columns; A and B change places where A is flat.
        let tall = (part == "a") != flat;
        let along = if part == "a" { m } else { n };
        let (elements, step) = match ty {
            "f16" | "bf16" => (Elements::Halves, 8),
            "tf32" => (Elements::Single(4), 4),
            "f64" => (Elements::Single(8), 4),
            "s8" | "u8" | "s4" | "u4" | "b1" => (Elements::Bytes, 16),
            _ => return None,
        };
        let down = if tall && along >= 16 { 16 } else { 8 };
        let mut pieces = Vec::new();
        for chunk in (0..along).step_by(down) {
            for other in (0..k).step_by(step) {
                pieces.extend((0..down as u32).step_by(8).map(|row| (chunk + row, other)));
            }
        }
        Some(Self {
            registers: if ty == "f16" { 8 } else { pieces.len() },
            pieces,
            by_rows: part == "a",
            elements,
            size,
            in_byte,
        })
    }

    fn class(&self) -> Class {
        match self.elements {
            Elements::Single(8) | Elements::Pairs(8) => Class::Bits64,
            _ => Class::Bits32,
        }
    }
}

struct Location {
    space: MemSpace,
    addr: Addr,
    /// Elements from one row or column to the next.
    stride: Src,
    /// The fragment's second axis is contiguous in memory.
    along: bool,
}

#[derive(Clone, Copy)]
enum Transfer {
    Load,
    Store,
}

/// Which of a piece and its transpose is accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orientation {
    AsStored,
    Transposed,
}
use Orientation::{AsStored, Transposed};

impl<'a> PtxLowering<'a> {
    pub(super) fn wmma(&mut self, instruction: &'a Instruction) -> Result<()> {
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let done = match modifiers[..] {
            ["load", part, "sync", "aligned", layout, shape, .., ty] => {
                self.load_fragment(instruction, part, layout, shape, ty)?
            }
            ["store", "d", "sync", "aligned", layout, shape, .., ty] => {
                self.store_fragment(instruction, layout, shape, ty)?
            }
            ["mma", "sync", "aligned", _, _, shape, ref types @ ..] => {
                self.multiply_fragments(instruction, shape, types)?
            }
            ["mma", op, "popc", "sync", "aligned", _, _, shape, ref types @ ..] => {
                self.multiply_fragments(instruction, shape, &[types, &[op, "popc"]].concat())?
            }
            _ => None,
        };
        done.ok_or_else(|| self.not_supported(instruction))
    }

    /// Reads the operands of a load or store: those for registers, and the place in memory.
    fn operands_of(
        &mut self, instruction: &'a Instruction, transfer: Transfer, fragment: &Fragment, layout: &str,
    ) -> Result<(&'a Operand, Location)> {
        let (first, second, stride) = match &instruction.operands[..] {
            [first, second] => (first, second, None),
            [first, second, stride] => (first, second, Some(stride)),
            _ => return Err(self.invalid("two or three operands are needed here")),
        };
        let (registers, address) = match transfer {
            Transfer::Load => (first, second),
            Transfer::Store => (second, first),
        };
        let space = space_of(instruction).unwrap_or(MemSpace::Generic);
        let (addr, space) = self.address(address, space)?;
        let rows = layout == "row";
        let stride = match stride {
            Some(stride) => {
                let stride = self.source(stride, Class::Bits32, Some(Type::U32))?;
                let shift = self.constants.bits32(fragment.in_byte, self.span)?;
                if fragment.in_byte == 0 { stride } else { self.computed("shr", &["u32"], &[stride, shift])? }
            }
            None => self.constants.bits32(fragment.size[usize::from(rows)], self.span)?,
        };
        Ok((registers, Location { space, addr, stride, along: fragment.by_rows == rows }))
    }

    fn lane(&mut self) -> Result<Src> {
        let special = special_registers::find("%laneid").ok_or_else(|| self.unsupported("`wmma`"))?;
        self.special(special, "%laneid", Class::Bits32)
    }

    /// Emits `(lane >> shift & mask) * times + plus`.
    fn lane_bits(&mut self, shift: u32, mask: u32, times: u32, plus: u32) -> Result<Src> {
        let mut value = self.lane()?;
        for (opcode, number, neutral) in [("shr", shift, 0), ("and", mask, 31), ("mul", times, 1), ("add", plus, 0)] {
            if number == neutral {
                continue;
            }
            let number = self.constants.bits32(number, self.span)?;
            let modifiers: &[&str] = match opcode {
                "shr" | "add" => &["u32"],
                "and" => &["b32"],
                _ => &["lo", "u32"],
            };
            value = self.computed(opcode, modifiers, &[value, number])?;
        }
        Ok(value)
    }

    /// Computes the address of an element: `far` strides and `near` elements from the start.
    fn element(&mut self, place: &Location, far: Src, near: Src, bytes: u32) -> Result<Addr> {
        let bytes = self.constants.bits32(bytes, self.span)?;
        let stride = self.computed("mul", &["lo", "u32"], &[place.stride, bytes])?;
        let width = if place.addr.wide { "wide" } else { "lo" };
        let row = self.computed("mad", &[width, "u32"], &[far, stride, place.addr.src])?;
        let src = self.computed("mad", &[width, "u32"], &[near, bytes, row])?;
        Ok(Addr { src, ..place.addr })
    }

    /// Computes the address of a piece's first element in each lane.
    fn piece(
        &mut self, place: &Location, at: (u32, u32), each: u32, bytes: u32, orientation: Orientation,
    ) -> Result<Addr> {
        let (first, second) = if orientation == Transposed { (at.1, at.0) } else { at };
        let slow = self.lane_bits(2, 31, 1, first)?;
        let quick = self.lane_bits(0, 3, each, second)?;
        if place.along || orientation == Transposed {
            self.element(place, slow, quick, bytes)
        } else {
            self.element(place, quick, slow, bytes)
        }
    }

    fn move_elements(
        &mut self, place: &Location, addr: Addr, bytes: u32, registers: &[i32], transfer: Transfer,
    ) -> Result<()> {
        let access = Access::new(place.space, addr, bytes as u8, registers);
        let access = Box::new(Access { wide: bytes == 8, ..access });
        self.emit(match transfer {
            Transfer::Load => OpKind::Load(access),
            Transfer::Store => OpKind::Store(access),
        })
    }

    fn load_fragment(
        &mut self, instruction: &'a Instruction, part: &str, layout: &str, shape: &str, ty: &str,
    ) -> Result<Option<()>> {
        let Some(fragment) = Fragment::new(part, shape, ty) else { return Ok(None) };
        let (to, place) = self.operands_of(instruction, Transfer::Load, &fragment, layout)?;
        let mut registers = vec![NONE; fragment.registers];
        self.results(to, &mut registers, fragment.class())?;
        let n = fragment.pieces.len();
        self.emit(OpKind::WholeWarp)?;
        let by_matrices = match fragment.elements {
            Elements::Halves => part != "c",
            Elements::Bytes => place.along,
            _ => false,
        };
        if by_matrices && place.space == MemSpace::Shared {
            self.load_by_matrices(&place, &fragment, &registers)?;
        } else {
            for (i, &at) in fragment.pieces.iter().enumerate() {
                match fragment.elements {
                    Elements::Halves if !place.along => {
                        let addr = self.piece(&place, at, 2, 2, Transposed)?;
                        let turned = self.registers.fresh(Class::Bits32) as i32;
                        self.move_elements(&place, addr, 4, &[turned], Transfer::Load)?;
                        self.emit(OpKind::MatrixMove { dst: registers[i] as u32, src: turned })?;
                    }
                    Elements::Bytes if !place.along => {
                        let bytes: [Src; 4] = std::array::from_fn(|_| self.registers.fresh(Class::Bits32) as Src);
                        for (byte, k) in bytes.iter().zip(at.1..) {
                            let addr = self.piece(&place, (at.0, k), 4, 1, AsStored)?;
                            self.move_elements(&place, addr, 1, std::slice::from_ref(byte), Transfer::Load)?;
                        }
                        self.builtin(Builtin::Pack32x4, registers[i] as u32, &bytes)?;
                    }
                    Elements::Pairs(bytes) => {
                        self.move_pair(&place, at, bytes, &registers[2 * i..2 * i + 2], Transfer::Load)?
                    }
                    Elements::Halves => self.load_register(&place, at, [2, 2], registers[i])?,
                    Elements::Bytes => self.load_register(&place, at, [4, 1], registers[i])?,
                    Elements::Single(bytes) => self.load_register(&place, at, [1, bytes], registers[i])?,
                }
            }
        }
        if fragment.elements == Elements::Halves {
            for i in n..fragment.registers {
                self.builtin(Builtin::Mov32, registers[i] as u32, &[registers[i % n]])?;
            }
        }
        Ok(Some(()))
    }

    /// Loads a register: so many elements, of so many bytes each.
    fn load_register(&mut self, place: &Location, at: (u32, u32), [n, bytes]: [u32; 2], register: i32) -> Result<()> {
        let addr = self.piece(place, at, n, bytes, AsStored)?;
        self.move_elements(place, addr, n * bytes, &[register], Transfer::Load)
    }

    fn move_pair(
        &mut self, place: &Location, at: (u32, u32), bytes: u32, registers: &[i32], transfer: Transfer,
    ) -> Result<()> {
        if place.along {
            let addr = self.piece(place, at, 2, bytes, AsStored)?;
            return self.move_elements(place, addr, bytes, registers, transfer);
        }
        for (i, register) in registers.iter().enumerate() {
            let addr = self.piece(place, (at.0, at.1 + i as u32), 2, bytes, AsStored)?;
            self.move_elements(place, addr, bytes, std::slice::from_ref(register), transfer)?;
        }
        Ok(())
    }

    /// Loads factors from shared memory: up to four 8x8 matrices of 16 bits at a time, or two of rows of 16 bytes.
    fn load_by_matrices(&mut self, place: &Location, fragment: &Fragment, registers: &[i32]) -> Result<()> {
        let n = fragment.pieces.len();
        let (most, bytes) = if fragment.elements == Elements::Bytes { (2, 1) } else { (4, 2) };
        for first in (0..n).step_by(most) {
            let count = (n - first).min(most);
            let start = fragment.pieces[first].0;
            // The second of four matrices follows the first along the fragment's first axis, or along the other.
            let down = fragment.pieces.get(first + 1).is_some_and(|piece| piece.0 != start);
            let (far, near) = if bytes == 1 {
                (self.lane_bits(0, 15, 1, 0)?, self.constants.bits32(0, self.span)?)
            } else if down == place.along {
                (self.lane_bits(0, 15, 1, 0)?, self.lane_bits(4, 1, 8, 0)?)
            } else {
                let low = self.lane_bits(0, 7, 1, 0)?;
                let high = self.lane_bits(4, 1, 8, 0)?;
                let far = self.computed("add", &["u32"], &[low, high])?;
                (far, self.lane_bits(3, 1, 8, 0)?)
            };
            let start = self.constants.bits32(start, self.span)?;
            let (far, near) = if place.along {
                (self.computed("add", &["u32"], &[far, start])?, near)
            } else {
                (far, self.computed("add", &["u32"], &[near, start])?)
            };
            let addr = self.element(place, far, near, bytes)?;
            let mut regs = [NONE; 4];
            regs[..count].copy_from_slice(&registers[first..first + count]);
            let (n, transposed) = (count as u8, !place.along);
            let access = MatrixAccess { space: place.space, addr, n, transposed, regs };
            self.emit(OpKind::MatrixLoad(Box::new(access)))?;
        }
        Ok(())
    }

    fn store_fragment(
        &mut self, instruction: &'a Instruction, layout: &str, shape: &str, ty: &str,
    ) -> Result<Option<()>> {
        let Some(fragment) = Fragment::new("d", shape, ty) else { return Ok(None) };
        let (from, place) = self.operands_of(instruction, Transfer::Store, &fragment, layout)?;
        let mut registers = vec![NONE; fragment.registers];
        let ty = if ty == "f64" { Type::F64 } else { Type::F32 };
        self.fragment(from, &mut registers, fragment.class(), ty)?;
        self.emit(OpKind::WholeWarp)?;
        for (i, &at) in fragment.pieces.iter().enumerate() {
            match fragment.elements {
                Elements::Pairs(bytes) => {
                    self.move_pair(&place, at, bytes, &registers[2 * i..2 * i + 2], Transfer::Store)?
                }
                _ if place.along => {
                    let addr = self.piece(&place, at, 2, 2, AsStored)?;
                    self.move_elements(&place, addr, 4, &registers[i..=i], Transfer::Store)?;
                }
                _ => {
                    let addr = self.piece(&place, at, 2, 2, Transposed)?;
                    let dst = self.registers.fresh(Class::Bits32);
                    self.emit(OpKind::MatrixMove { dst, src: registers[i] })?;
                    self.move_elements(&place, addr, 4, &[dst as i32], Transfer::Store)?;
                }
            }
        }
        Ok(Some(()))
    }

    fn multiply_fragments(&mut self, instruction: &'a Instruction, shape: &str, types: &[&str]) -> Result<Option<()>> {
        let (types, overflow) = match types {
            [types @ .., "satfinite"] => (types, Overflow::Saturate),
            _ => (types, Overflow::Wrap),
        };
        // Without types of A and B, these are `f16`. Sums have the wider type of C and D.
        let (kinds, factor, [sum, c_type, d_type]) = match *types {
            [d, c] => {
                let sum = if d == c { d } else { "f32" };
                (super::matrix::types(&[sum, "f16", "f16", sum], overflow), "f16", [sum, c, d])
            }
            [_, factor, ..] => {
                let sum = types.iter().find(|ty| matches!(**ty, "f32" | "f64" | "s32")).copied().unwrap_or("f32");
                (super::matrix::types(types, overflow), factor, [sum; 3])
            }
            _ => return Ok(None),
        };
        let Some(kinds) = kinds else { return Ok(None) };
        let parts = (
            Fragment::new("a", shape, factor),
            Fragment::new("b", shape, factor),
            Fragment::new("c", shape, sum),
            parse_shape(shape),
        );
        let (Some(a), Some(b), Some(c), Some([m, n, k])) = parts else { return Ok(None) };
        // sm_90 multiplies TF32 of `wmma` in steps of four k.
        let step = if factor == "tf32" { 4 } else { k };
        let rows = if m == 8 && n == 8 { 8 } else { 16 };
        let Some(form) = MmaForm::new(rows, step as u16, kinds, None) else { return Ok(None) };
        self.count(instruction, 4)?;
        let operands = &instruction.operands;
        let class = a.class();
        let [mut a_regs, mut b_regs] = [vec![NONE; a.registers], vec![NONE; b.registers]];
        let [mut c_regs, mut d_regs] =
            [c_type, d_type].map(|ty| vec![NONE; c.registers / if ty == sum { 1 } else { 2 }]);
        let ty = if class == Class::Bits64 { Type::F64 } else { Type::F32 };
        self.fragment(&operands[1], &mut a_regs, class, Type::B32)?;
        self.fragment(&operands[2], &mut b_regs, class, Type::B32)?;
        self.fragment(&operands[3], &mut c_regs, class, ty)?;
        self.results(&operands[0], &mut d_regs, class)?;
        if c_type != sum {
            let mut wide = Vec::new();
            for half in c_regs.iter().flat_map(|&c| [(c, Builtin::Lo16Of32), (c, Builtin::Hi16Of32)]) {
                let half = self.value(half.1, &[half.0])?;
                wide.push(self.computed("cvt", &["f32", "f16"], &[half])?);
            }
            c_regs = wide;
        }

        // Results that are also sources of other products are written last.
        let others = |at: usize, register: i32| {
            let apart = |(i, c): (usize, &Src)| i != at && *c == register;
            a_regs.contains(&register) || b_regs.contains(&register) || c_regs.iter().enumerate().any(apart)
        };
        let meets = d_type != sum || d_regs.iter().enumerate().any(|(at, &d)| others(at, d));
        let to: Vec<i32> =
            if meets { c_regs.iter().map(|_| self.registers.fresh(class) as i32).collect() } else { d_regs.clone() };
        let (tall, wide) = if n == 32 { (&b_regs, &a_regs) } else { (&a_regs, &b_regs) };
        let [n_a, n_b, n_c] = form.registers();
        let steps = (k / step) as usize;
        for product in 0..c.registers / n_c {
            let sums = product * n_c..(product + 1) * n_c;
            for at in 0..steps {
                // The operand shared by all products has the registers of one.
                let rows = if m == 16 && n == 16 { 0 } else { product * n_a * steps };
                let columns = if m == 16 && n == 16 { product * n_b * steps } else { 0 };
                let mut mma = Mma::new(form);
                let from = rows + at * n_a;
                mma.a[..n_a].copy_from_slice(&tall[from..from + n_a]);
                let from = columns + at * n_b;
                mma.b[..n_b].copy_from_slice(&wide[from..from + n_b]);
                let before = if at == 0 { &c_regs } else { &to };
                mma.c[..n_c].copy_from_slice(&before[sums.clone()]);
                for (d, &register) in mma.d.iter_mut().zip(&to[sums.clone()]) {
                    *d = register as u32;
                }
                self.emit(OpKind::Mma(Box::new(mma)))?;
            }
        }
        if d_type != sum {
            for (d, pair) in d_regs.into_iter().zip(to.as_chunks::<2>().0) {
                let halves = pair.map(|value| self.computed("cvt", &["rn", "f16", "f32"], &[value]));
                let [low, high] = halves;
                self.builtin(Builtin::Pack32, d as u32, &[low?, high?])?;
            }
        } else if meets {
            let mov = super::mov_of(class);
            for (d, value) in d_regs.into_iter().zip(to) {
                self.builtin(mov, d as u32, &[value])?;
            }
        }
        Ok(Some(()))
    }
}
