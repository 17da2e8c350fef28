//! Machine code: lowers the GPU's instructions to the operations that PTX becomes.
//!
//! A register is a line, a uniform register too: all lanes that read it see one value. 64-bit values are combined from
//! two lines where an operation needs them, and split again; `prune` removes unused ones. Constant bank 0 (launch
//! sizes, parameters) is in lines before a warp starts.
//!
//! The code gives the reconvergence points: `BSSY` names the position, `BSYNC` precedes it.

mod asynchronous;
mod control;
mod convergence;
mod emit;
mod float;
mod integer;
mod kernel;
mod matrix;
mod memory;
mod operand;
mod parts;
mod prune;

pub use kernel::decode;

use std::collections::{BTreeMap, HashMap};

use sass::instruction::{Operand, Register, Value};
use sass::operation::{Modifier, Operation};
use sass::{Instruction, Segment};

use crate::error::{Result, refused};
use crate::passes::constants::Constants;
use crate::virtual_op::{FALSE, Registers, TRUE, VirtualOp};
use arithmetic::lanes::{CpuLevel, Src};
use float::{Conversion, FloatOperands};
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
    /// Address of bank 3, the constants of the program.
    pub constants: Option<u64>,
    /// Addresses of bank 2 of each kernel, and of bank 4.
    pub fixed: HashMap<Segment, u64>,
}

/// Lowers one kernel: the operations so far, and the instruction being lowered.
struct SassLowering<'a> {
    name: &'a str,
    level: CpuLevel,
    account: &'a Account,
    segments: &'a Segments,
    number: usize,
    code: &'a [Instruction],
    /// Whether an instruction is a `BSYNC` in front of a reconvergence point of its barrier.
    reconverging_syncs: Vec<bool>,
    /// The code ends groups of copies: by `LDGDEPBAR`, by `UTMACMDFLUSH`.
    ends_groups: [bool; 2],
    /// Reconvergence point of each barrier, by instruction.
    reconvergence: convergence::Reconvergence,

    ops: Vec<VirtualOp>,
    instrs: Vec<InstrInfo>,
    registers: Registers,
    constants: Constants,
    specials: BTreeMap<Special, u32>,
    lines: HashMap<LineId, u32>,
    /// Virtual predicates, by the number of the machine predicate and whether that is uniform.
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
    taken: parts::TakenParts,
}

impl<'a> SassLowering<'a> {
    fn new(
        kernel: &'a sass::CubinKernel, number: usize, segments: &'a Segments, level: CpuLevel, account: &'a Account,
    ) -> Result<Self> {
        let code = &kernel.instructions[..];
        let Some(first) = code.first() else { return Err(refused(format!("the empty kernel `{}`", kernel.name))) };
        Ok(SassLowering {
            name: &kernel.name,
            level,
            account,
            segments,
            number,
            code,
            reconverging_syncs: convergence::reconverging_syncs(code),
            ends_groups: [Operation::Ldgdepbar, Operation::Utmacmdflush]
                .map(|operation| code.iter().any(|instruction| instruction.operation == operation)),
            reconvergence: convergence::Reconvergence::new(code, account)?,
            ops: Vec::new(),
            instrs: Vec::new(),
            registers: Registers::new(),
            constants: Constants::default(),
            specials: BTreeMap::new(),
            lines: HashMap::new(),
            predicates: HashMap::new(),
            pairs: HashMap::new(),
            shared_subword: false,
            reduced: None,
            instruction: first,
            address: 0,
            guard: TRUE,
            negated: false,
            instr: 0,
            first: true,
            taken: parts::TakenParts::default(),
        })
    }

    /// Returns for each instruction, and the end, whether a jump leads there.
    fn labels(&self) -> Vec<bool> {
        let mut labels = vec![false; self.code.len() + 1];
        for (at, instruction) in self.code.iter().enumerate() {
            if let Some(place) = instruction.label().and_then(|label| self.place_of(label)) {
                labels[place as usize] = true;
            }
            match instruction.operation {
                Operation::Call => labels[at + 1] = true,
                Operation::Brx => {
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

    /// Returns the number of the instruction at an address; at the end, one more than the last.
    fn place_of(&self, address: i64) -> Option<u32> {
        let address = u32::try_from(address).ok().filter(|address| address.is_multiple_of(BYTES))?;
        Some(address / BYTES).filter(|&place| place as usize <= self.code.len())
    }

    /// Returns the target of a return to each instruction.
    fn return_places(&self) -> Box<[u32]> {
        let end = self.code.len() as u32;
        let follows_a_call = |at: usize| at > 0 && self.code[at - 1].operation == Operation::Call;
        (0..self.code.len()).map(|at| if follows_a_call(at) { at as u32 } else { end }).collect()
    }

    /// Returns the target of a branch that adds an entry of the jump tables to `base`, by the instruction it names.
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

    /// Starts an instruction: records its text and source, and reads its guard.
    fn begin(&mut self, instruction: &'a Instruction, at: u32, source: Option<SourceLoc>) -> Result<()> {
        let text = instruction.to_string();
        self.account.bytes(text.len() as u64 + INSTR_BYTES)?;
        self.instruction = instruction;
        self.address = instruction.address;
        self.instr = at;
        self.first = true;
        self.taken = parts::TakenParts::default();
        let guard = instruction.guard;
        self.guard = self.predicate_of(guard.predicate.0, guard.uniform);
        self.negated = guard.negated;
        let zero = |at: usize| {
            let operand = instruction.sources().get(at);
            operand.is_some_and(|operand| operand.value == Value::Register(Register::ZERO))
        };
        let fmas = match instruction.operation {
            Operation::Ffma | Operation::Dfma => 1,
            Operation::Hfma2 if !(zero(0) && zero(1)) => 2,
            _ => 0,
        };
        self.instrs.push(InstrInfo { text, ptx_line: at + 1, source, fmas, ..InstrInfo::default() });
        Ok(())
    }

    /// Adds a `Nop` if the instruction has no operation to count.
    fn end(&mut self) -> Result<()> {
        if self.first { self.emit(OpKind::Nop) } else { Ok(()) }
    }

    /// Reads four bytes of a constant bank that no program can change.
    fn fixed_word(&self, bank: u8, offset: u32) -> Option<u32> {
        let bytes = match bank {
            2 => self.segments.tables.get(self.number)?,
            4 => &self.segments.addresses,
            _ => return None,
        };
        let word = bytes.get(offset as usize..)?.first_chunk()?;
        Some(u32::from_le_bytes(*word))
    }

    /// Lowers the instruction; refuses it if a modifier or operand is left.
    fn lower_instruction(&mut self) -> Result<()> {
        // No lane takes part, but accesses to memory are counted.
        let accesses = |operand: &Operand| matches!(operand.value, Value::Memory(_));
        if self.guard == TRUE && self.negated && !self.instruction.operands.iter().any(accesses) {
            return Ok(());
        }
        self.lower_operation()?;
        refuse_if!(!self.all_taken(), self.unsupported());
        Ok(())
    }

    fn lower_operation(&mut self) -> Result<()> {
        let operation = self.instruction.operation;
        match operation {
            Operation::Mov | Operation::Umov => self.mov(),
            Operation::R2ur => self.for_the_warp(),
            Operation::Elect => self.choose_lane(),
            Operation::Iadd3 | Operation::Uiadd3 => self.add3(),
            Operation::Viadd if self.take_modifier(Modifier::W16x2) => self.plain("add", &["u16x2"], 2),
            Operation::Viadd => self.plain("add", &["u32"], 2),
            Operation::Imad | Operation::Uimad => self.multiply_add(),
            Operation::Lea | Operation::Ulea => self.shift_add(),
            Operation::Lop3 | Operation::Ulop3 => self.logic(),
            Operation::Plop3 => self.predicate_logic(),
            Operation::Shf | Operation::Ushf => self.shift(),
            Operation::Prmt | Operation::Uprmt => self.permute(),
            Operation::Sel | Operation::Usel => self.select(),
            Operation::Isetp | Operation::Uisetp => self.compare_integers(),
            Operation::Imnmx | Operation::Vimnmx => self.integer_extremum(),
            Operation::Viaddmnmx => self.sum_extremum(),
            Operation::Vabsdiff => {
                let sign = self.sign();
                self.plain("sad", &[sign], 3)
            }
            Operation::Idp => self.dot_product(),
            Operation::Iabs => self.plain("abs", &["s32"], 1),
            Operation::Popc | Operation::Upopc => self.plain("popc", &["b32"], 1),
            Operation::Brev | Operation::Ubrev => self.plain("brev", &["b32"], 1),
            Operation::Flo | Operation::Uflo => self.find_leading_one(),
            Operation::Bmsk => {
                let overflow = self.overflow();
                self.plain("bmsk", &[overflow, "b32"], 2)
            }
            Operation::Sgxt => {
                let modifiers = [self.overflow(), self.sign()];
                self.plain("szext", &modifiers, 2)
            }
            Operation::P2r => self.predicates_to_register(),
            Operation::R2p => self.register_to_predicates(),
            Operation::S2r | Operation::S2ur | Operation::Cs2r => self.special_register(),

            Operation::Fadd => self.single("add", 2),
            Operation::Fmul => self.single("mul", 2),
            Operation::Ffma => self.single("fma", 3),
            Operation::Fmnmx => self.extremum(),
            Operation::Fsetp => self.compare_floats(FloatOperands::Single),
            Operation::Fsel => self.select_float(),
            Operation::Fchk => self.check_division(),
            Operation::Mufu => self.special_function(),
            Operation::Dadd => self.double("add", 2),
            Operation::Dmul => self.double("mul", 2),
            Operation::Dfma => self.double("fma", 3),
            Operation::Dsetp => self.compare_floats(FloatOperands::Double),
            Operation::Hsetp2 => self.compare_floats(FloatOperands::Halves),
            Operation::Fset => self.set_floats(FloatOperands::Single),
            Operation::Hset2 => self.set_floats(FloatOperands::Halves),
            Operation::Hadd2 => self.halves("add", 2),
            Operation::Hmul2 => self.halves("mul", 2),
            Operation::Hfma2 => self.halves("fma", 3),
            Operation::I2f | Operation::I2fp => self.convert(Conversion::IntegerToFloat),
            Operation::F2i => self.convert(Conversion::FloatToInteger),
            Operation::Frnd => self.convert(Conversion::FloatToWhole),
            Operation::F2f => self.convert(Conversion::FloatToFloat),
            Operation::F2fp => self.pack_halves(),

            Operation::Ldg => self.load(MemSpace::Global),
            Operation::Ld => self.load(MemSpace::Generic),
            Operation::Lds => self.load(MemSpace::Shared),
            Operation::Ldl => self.load(MemSpace::Local),
            Operation::Stg => self.store(MemSpace::Global),
            Operation::St => self.store(MemSpace::Generic),
            Operation::Sts => self.store(MemSpace::Shared),
            Operation::Stl => self.store(MemSpace::Local),
            Operation::Ldc | Operation::Uldc => self.load_constant(),
            Operation::Atomg | Operation::Redg => self.atomic(MemSpace::Global),
            Operation::Atom => self.atomic(MemSpace::Generic),
            Operation::Atoms => self.atomic(MemSpace::Shared),
            Operation::Ldgsts => self.copy(),
            Operation::Ldgdepbar => self.emit(OpKind::CpAsyncCommit),
            Operation::Utmacmdflush => self.emit(OpKind::BulkCommit),
            Operation::Depbar => self.wait_for_groups(),
            Operation::Arrives => self.arrive_behind_copies(),
            Operation::Syncs => self.shared_barrier(),
            Operation::Utmaldg | Operation::Utmastg | Operation::Utmapf => self.tensor_copy(),
            Operation::Ublkcp => self.bulk_copy(),
            Operation::Hgmma | Operation::Qgmma => self.multiply_by_warpgroup(),
            Operation::Warpgroup => self.warpgroup(),
            Operation::Usetmaxreg => self.set_registers(),
            Operation::UcgabarArv => self.emit(OpKind::ClusterBarrier { waits: false }),
            Operation::UcgabarWait => self.emit(OpKind::ClusterBarrier { waits: true }),
            Operation::Fence => self.emit(OpKind::ProxyFence),

            Operation::Bra if self.take_modifier(Modifier::Div) => self.branch_if_diverged(),
            Operation::Bra if self.take_modifier(Modifier::Any) => self.branch_if_any(),
            Operation::Bra => self.branch(),
            Operation::Brx => self.branch_by_table(),
            Operation::Exit => self.exit(),
            Operation::Bssy => self.converge(),
            Operation::Break => self.leave(),
            Operation::Call if self.take_modifier(Modifier::Rel) => self.branch(),
            Operation::Ret if self.take_modifier(Modifier::Rel) => self.ret(),
            // Lanes reconverge after it, so it needs no operation; it is refused without a `BSSY`.
            Operation::Bsync => {
                refuse_if!(!self.is_always() || !self.reconverging_syncs[self.instr as usize], self.unsupported());
                Ok(())
            }
            // Frames track convergence, so a saved barrier has no meaning.
            Operation::Bmov if self.destination().is_some() => {
                self.ignore_modifier(Modifier::Clear);
                self.ignore_modifier(Modifier::W32);
                let zero = self.number(0)?;
                self.write_line(zero)
            }
            // Hints are invisible to a program, and so is the end of earlier grids: grids run one after the other.
            Operation::Acqbulk
            | Operation::Preexit
            | Operation::Utmacctl
            | Operation::Ublkpf
            | Operation::Endcollective
            | Operation::Bmov
            | Operation::Nop
            | Operation::Yield
            | Operation::Errbar
            | Operation::Cgaerrbar => {
                (0..self.instruction.sources().len()).for_each(|at| self.ignore_source(at));
                Ok(())
            }
            Operation::B2r => self.barrier_result(),
            Operation::Bpt => {
                self.ignore_source(0);
                self.emit(OpKind::Trap)
            }
            Operation::Warpsync => self.warp_sync(),
            Operation::Bar => self.barrier(),
            // After a strong load, L1 forgets what it holds: the load acquires.
            Operation::Membar | Operation::Cctl => self.emit(OpKind::Fence),
            Operation::Nanosleep => {
                // The duration has no meaning here.
                self.ignore_source(1);
                self.emit(OpKind::Yield)
            }
            Operation::Shfl => self.shuffle(),
            Operation::Vote | Operation::Voteu => self.vote(),
            Operation::Match => self.matching(),
            Operation::Redux => self.reduce(),

            Operation::Hmma | Operation::Imma | Operation::Bmma | Operation::Dmma => self.multiply_matrices(),
            Operation::Ldsm => self.load_matrices(),
            Operation::Stsm => self.store_matrices(),
            Operation::Movm => self.move_matrix(),
            _ => Err(self.unsupported()),
        }
    }
}
