//! Machine code: lowers the GPU's instructions to the operations that PTX becomes.
//!
//! A register is a line, a uniform register too: all lanes that read it see one value. 64-bit values are combined from
//! two lines where an operation needs them, and split again; `prune` removes unused ones. Constant bank 0 (launch
//! sizes, parameters) is in lines before a warp starts.
//!
//! The code gives the reconvergence points: `BSSY` names the position, `BSYNC` precedes it.

mod control;
mod convergence;
mod emit;
mod float;
mod integer;
mod kernel;
mod matrix;
mod memory;
mod operand;
mod prune;
mod seen;

pub use kernel::decode;

use std::collections::{BTreeMap, HashMap};

use sass::instruction::{Register, Value};
use sass::{Instruction, Segment};

use crate::error::Result;
use crate::passes::constants::Constants;
use crate::virt::{FALSE, Registers, TRUE, VirtualOp};
use arithmetic::lanes::{CpuLevel, Src};
use operand::LineId;
use program::limits::{Account, INSTR_BYTES};
use program::{InstrInfo, MemSpace, OpKind, SourceLoc, Special};

const BYTES: u32 = 16;

/// Constant banks, with all addresses resolved.
#[derive(Debug, Default)]
pub struct Segments {
    /// Contents of bank 4: addresses.
    pub addresses: Vec<u8>,
    /// Contents of bank 2 (jump tables), by kernel.
    pub tables: Vec<Vec<u8>>,
    pub constants: Option<u64>,
    /// Addresses of bank 2 of each kernel, and of bank 4.
    pub fixed: HashMap<Segment, u64>,
}

struct Lower<'a> {
    name: &'a str,
    level: CpuLevel,
    account: &'a Account,
    segments: &'a Segments,
    /// Number of the kernel in its module.
    number: usize,
    /// Offset of the parameters in constant bank 0.
    first_parameter: u32,
    code: &'a [Instruction],
    /// True for each `BSYNC` in front of a reconvergence point of its barrier.
    meeting_places: Vec<bool>,
    /// Reconvergence point of each barrier, by instruction.
    meetings: convergence::Meetings,

    ops: Vec<VirtualOp>,
    instrs: Vec<InstrInfo>,
    registers: Registers,
    constants: Constants,
    specials: BTreeMap<Special, u32>,
    lines: HashMap<LineId, u32>,
    /// Keyed by number, and true for uniform ones.
    predicates: HashMap<(u8, bool), u32>,
    /// 64-bit copies of pairs of lines, valid since the last label.
    pairs: HashMap<LineId, Src>,
    shared_subword: bool,
    /// Results of reductions at barriers: a number, a predicate.
    reduced: Option<(u32, u32)>,

    // The instruction being lowered.
    instruction: &'a Instruction,
    address: u32,
    guard: u32,
    negated: bool,
    instr: u32,
    first: bool,
    seen: seen::Seen,
}

impl<'a> Lower<'a> {
    /// True for each jump target.
    fn labels(&self) -> Vec<bool> {
        let mut labels = vec![false; self.code.len() + 1];
        for (at, instruction) in self.code.iter().enumerate() {
            if let Some(place) = instruction.label().and_then(|label| self.place_of(label)) {
                labels[place as usize] = true;
            }
            match instruction.operation.name() {
                "CALL" => labels[at + 1] = true,
                "BRX" => {
                    let base = instruction.label().unwrap_or(0);
                    for place in self.places_in_tables(base) {
                        labels[place as usize] = true;
                    }
                }
                _ => {}
            }
        }
        labels
    }

    /// Number of the instruction at an address; at the end, one more than the last.
    fn place_of(&self, address: i64) -> Option<u32> {
        let address = u32::try_from(address).ok().filter(|address| address.is_multiple_of(BYTES))?;
        Some(address / BYTES).filter(|&place| place as usize <= self.code.len())
    }

    /// Target of a return to each instruction.
    fn return_places(&self) -> Box<[u32]> {
        let end = self.code.len() as u32;
        let behind_a_call = |at: usize| at > 0 && self.code[at - 1].operation.name() == "CALL";
        (0..self.code.len()).map(|at| if behind_a_call(at) { at as u32 } else { end }).collect()
    }

    /// Target of a branch that adds an entry of the jump tables to `base`, by the instruction it names.
    fn places_in_tables(&self, base: i64) -> Box<[u32]> {
        let end = self.code.len() as u32;
        let mut places = vec![end; self.code.len()];
        let tables = self.segments.tables.get(self.number).map_or(&[][..], |tables| tables);
        for entry in tables.as_chunks().0 {
            let place = base.checked_add(i32::from_le_bytes(*entry).into());
            if let Some(place) = place.and_then(|place| self.place_of(place))
                && let Some(own) = places.get_mut(place as usize)
            {
                *own = place;
            }
        }
        places.into()
    }

    /// Reconvergence point of this instruction's barrier.
    fn meeting_of_barrier(&self) -> Option<u32> {
        let barrier = self.instruction.operands.iter().find_map(|operand| match operand.value {
            Value::Barrier(barrier) => Some(barrier),
            _ => None,
        });
        self.meetings.of(self.instr, barrier?)
    }

    fn begin(&mut self, instruction: &'a Instruction, at: u32, source: Option<SourceLoc>) -> Result<()> {
        let text = instruction.to_string();
        self.account.bytes(text.len() as u64 + INSTR_BYTES)?;
        self.instruction = instruction;
        self.address = instruction.address;
        self.instr = at;
        self.first = true;
        self.seen = seen::Seen::default();
        let guard = instruction.guard;
        self.guard = self.predicate_of(guard.predicate.0, guard.uniform);
        self.negated = guard.negated;
        let zero = |at: usize| {
            let operand = instruction.sources().get(at);
            operand.is_some_and(|operand| operand.value == Value::Register(Register::ZERO))
        };
        let fmas = match instruction.operation.name() {
            "FFMA" | "DFMA" => 1,
            "HFMA2" if !(zero(0) && zero(1)) => 2,
            _ => 0,
        };
        self.instrs.push(InstrInfo { text, ptx_line: at + 1, source, fmas, ..InstrInfo::default() });
        Ok(())
    }

    /// Adds a `Nop` if the instruction has no operation to count.
    fn end(&mut self) -> Result<()> {
        if self.first { self.emit(OpKind::Nop) } else { Ok(()) }
    }

    /// Four bytes of a constant bank that no program can change.
    fn fixed_word(&self, bank: u8, offset: u32) -> Option<u32> {
        let bytes = match bank {
            2 => self.segments.tables.get(self.number)?,
            4 => &self.segments.addresses,
            _ => return None,
        };
        let word = bytes.get(offset as usize..)?.first_chunk()?;
        Some(u32::from_le_bytes(*word))
    }

    fn name(&self) -> &'static str {
        self.instruction.operation.name()
    }

    fn modifiers(&self) -> Vec<&'static str> {
        self.instruction.modifiers.iter().map(|own| own.name()).collect()
    }

    /// Lowers the instruction; refuses it if a modifier or operand stays unread.
    fn whole_instruction(&mut self) -> Result<()> {
        // No lane takes part, but accesses to memory are counted.
        let accesses = |operand: &sass::instruction::Operand| matches!(operand.value, Value::Memory(_));
        if self.guard == TRUE && self.negated && !self.instruction.operands.iter().any(accesses) {
            return Ok(());
        }
        self.instruction()?;
        refuse_if!(!self.is_all_seen(), self.unsupported());
        Ok(())
    }

    fn instruction(&mut self) -> Result<()> {
        match self.name() {
            "MOV" | "UMOV" | "R2UR" => self.mov(),
            "IADD3" | "UIADD3" => self.add3(),
            "VIADD" if self.has("16x2") => self.plain("add", &["u16x2"], 2),
            "VIADD" => self.plain("add", &["u32"], 2),
            "IMAD" | "UIMAD" => self.multiply_add(),
            "LEA" | "ULEA" => self.shift_add(),
            "LOP3" | "ULOP3" => self.logic(),
            "PLOP3" | "UPLOP3" => self.predicate_logic(),
            "SHF" | "USHF" => self.shift(),
            "PRMT" | "UPRMT" => self.permute(),
            "SEL" | "USEL" => self.select(),
            "ISETP" | "UISETP" => self.compare_integers(),
            "IMNMX" | "VIMNMX" => self.integer_extremum(),
            "VIADDMNMX" => self.sum_extremum(),
            "VABSDIFF" => self.plain("sad", &[self.sign()], 3),
            "IDP" => self.dot_product(),
            "IABS" => self.plain("abs", &["s32"], 1),
            "POPC" | "UPOPC" => self.plain("popc", &["b32"], 1),
            "BREV" | "UBREV" => self.plain("brev", &["b32"], 1),
            "FLO" | "UFLO" => self.find_leading_one(),
            "BMSK" | "UBMSK" => self.plain("bmsk", &[self.overflow(), "b32"], 2),
            "SGXT" | "USGXT" => self.plain("szext", &[self.overflow(), self.sign()], 2),
            "P2R" | "UP2UR" => self.predicates_to_register(),
            "R2P" => self.register_to_predicates(),
            "S2R" | "S2UR" | "CS2R" => self.special_register(),

            "FADD" => self.single("add", 2),
            "FMUL" => self.single("mul", 2),
            "FFMA" => self.single("fma", 3),
            "FMNMX" => self.extremum(),
            "FSETP" => self.compare_floats("f32"),
            "FSEL" => self.select_float(),
            "FCHK" => self.check_division(),
            "MUFU" => self.special_function(),
            "DADD" => self.double("add", 2),
            "DMUL" => self.double("mul", 2),
            "DFMA" => self.double("fma", 3),
            "DSETP" => self.compare_floats("f64"),
            "HSETP2" => self.compare_floats("halves"),
            "FSET" => self.set_floats("f32"),
            "HSET2" => self.set_floats("halves"),
            "HADD2" => self.halves("add", 2),
            "HMUL2" => self.halves("mul", 2),
            "HFMA2" => self.halves("fma", 3),
            "I2F" | "I2FP" => self.convert("to float"),
            "F2I" => self.convert("to integer"),
            "FRND" => self.convert("rounded"),
            "F2F" => self.convert("between"),
            "F2FP" => self.pack_halves(),

            "LDG" => self.load(MemSpace::Global),
            "LD" => self.load(MemSpace::Generic),
            "LDS" => self.load(MemSpace::Shared),
            "LDL" => self.load(MemSpace::Local),
            "STG" => self.store(MemSpace::Global),
            "ST" => self.store(MemSpace::Generic),
            "STS" => self.store(MemSpace::Shared),
            "STL" => self.store(MemSpace::Local),
            "LDC" | "ULDC" => self.load_constant(),
            "ATOMG" | "REDG" => self.atomic(MemSpace::Global),
            "ATOM" => self.atomic(MemSpace::Generic),
            "ATOMS" => self.atomic(MemSpace::Shared),
            "LDGSTS" => self.copy(),
            "LDGDEPBAR" => self.emit(OpKind::CpAsyncCommit),
            "DEPBAR" => {
                let pending = self.immediate(1).unwrap_or(0);
                self.emit(OpKind::CpAsyncWait { pending })
            }

            "BRA" if self.has("DIV") => self.branch_if_diverged(),
            "BRA" => self.branch(),
            "BRX" => self.branch_by_table(),
            "EXIT" => self.exit(),
            "BSSY" => self.converge(),
            "BREAK" => self.leave(),
            "CALL" if self.has("REL") => self.branch(),
            "RET" if self.has("REL") => self.ret(),
            "BSYNC" => self.meet(),
            // Frames track convergence, so a saved barrier has no meaning.
            "BMOV" if self.destination().is_some() => {
                self.has("CLEAR");
                self.has("32");
                let zero = self.number(0)?;
                self.write_line(zero)
            }
            "BMOV" | "NOP" | "YIELD" | "ERRBAR" | "CGAERRBAR" | "CCTL" => {
                (0..self.instruction.sources().len()).for_each(|at| _ = self.look_at(at));
                Ok(())
            }
            "B2R" => self.barrier_result(),
            "BPT" => {
                self.look_at(0);
                self.emit(OpKind::Trap)
            }
            "WARPSYNC" if !self.has("COLLECTIVE") => self.warp_sync(),
            "BAR" => self.barrier(),
            "MEMBAR" => self.emit(OpKind::Fence),
            "NANOSLEEP" => {
                // The duration has no meaning here.
                self.look_at(1);
                self.emit(OpKind::Yield)
            }
            "SHFL" => self.shuffle(),
            "VOTE" | "VOTEU" => self.vote(),
            "MATCH" => self.matching(),
            "REDUX" => self.reduce(),

            "HMMA" | "DMMA" => self.multiply_matrices(),
            "LDSM" => self.load_matrices(),
            "STSM" => self.store_matrices(),
            "MOVM" => self.move_matrix(),
            _ => Err(self.unsupported()),
        }
    }
}
