//! The code of one kernel as values in blocks: static single assignment, built in one walk.
//!
//! Variables become values as they are read and written, after Braun and others, "Simple and Efficient Construction of
//! Static Single Assignment Form" (2013). A value without effects is folded when it is made, is the same as an equal
//! one that dominates it, and is placed outside of the loops that do not change it.

mod fold;

use crate::map::{HashMap, HashSet};

pub(crate) use fold::{convert, evaluate};

/// Values of memory that are kept at a time, and branches above a block that are looked at.
const MAX_KNOWN: usize = 256;
const MAX_ABOVE: usize = 64;
/// Parts of the conditions of these branches.
const MAX_IMPLIED: u32 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Value(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Block(pub u32);

/// A scalar variable, or a scalar part of one.
pub(crate) type Variable = u32;

/// Class of registers that a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Pred,
    I32,
    I64,
    F32,
    F64,
    /// Of what has no result.
    None,
}

/// A scalar type in memory, or of an operand. `char`, `long` and `unsigned long` are types of their own in C++ only:
/// operations have [`Num::held`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Num {
    Bool,
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
    F32,
    F64,
    Char,
    Long,
    ULong,
}

/// Name in C++, letter in symbols, bytes, class and name in PTX of each [`Num`]; a `bool` lies in memory as a byte.
/// Integers of fewer than 32 bits are held in 32, extended as their type says.
const NUMS: [(&str, char, u64, Class, &str); 14] = [
    ("bool", 'b', 1, Class::Pred, "u8"),
    ("signed char", 'a', 1, Class::I32, "s8"),
    ("unsigned char", 'h', 1, Class::I32, "u8"),
    ("short", 's', 2, Class::I32, "s16"),
    ("unsigned short", 't', 2, Class::I32, "u16"),
    ("int", 'i', 4, Class::I32, "s32"),
    ("unsigned int", 'j', 4, Class::I32, "u32"),
    ("long long", 'x', 8, Class::I64, "s64"),
    ("unsigned long long", 'y', 8, Class::I64, "u64"),
    ("float", 'f', 4, Class::F32, "f32"),
    ("double", 'd', 8, Class::F64, "f64"),
    ("char", 'c', 1, Class::I32, "s8"),
    ("long", 'l', 8, Class::I64, "s64"),
    ("unsigned long", 'm', 8, Class::I64, "u64"),
];

impl Num {
    pub(crate) fn bytes(self) -> u64 {
        NUMS[self as usize].2
    }

    pub(crate) fn class(self) -> Class {
        NUMS[self as usize].3
    }

    pub(crate) fn is_signed(self) -> bool {
        self.name().starts_with('s')
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Num::F32 | Num::F64)
    }

    /// Returns the type's name in PTX.
    pub(crate) fn name(self) -> &'static str {
        NUMS[self as usize].4
    }

    /// Returns the type's name in C++, and its letter in symbols.
    pub(crate) fn names(self) -> (&'static str, char) {
        (NUMS[self as usize].0, NUMS[self as usize].1)
    }

    /// Returns the type with the same values that operations have.
    pub(crate) fn held(self) -> Num {
        match self {
            Num::Char => Num::S8,
            Num::Long => Num::S64,
            Num::ULong => Num::U64,
            other => other,
        }
    }
}

/// Binary operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    MulHi,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Const(u64),
    /// The value of a variable that nothing has set.
    Undef,
    /// Bytes of a kernel's parameter.
    Param {
        index: u16,
        offset: u32,
        num: Num,
    },
    /// A special register, such as `tid.x`.
    Special(&'static str),
    /// The address of an object.
    Address(u32),
    Phi,
    /// `is_signed` also says that a sum or product of integers does not overflow.
    Arith(Arith, bool),
    Neg,
    Not,
    Compare(Compare, bool),
    /// `args[0] ? args[1] : args[2]`
    Select,
    Convert(Num, Num),
    /// The same bits in a register of another class.
    Bits,
    Fma,
    /// `args[0] * args[1]` of 32-bit integers, in 64 bits.
    MulWide(bool),
    /// An instruction without effects, which takes values and gives one.
    Pure(&'static str),
    Load {
        num: Num,
        is_volatile: bool,
        is_constant: bool,
        align: u8,
    },
    /// `[args[0]] = args[1]`
    Store {
        num: Num,
        is_volatile: bool,
        align: u8,
    },
    /// The loads of as many neighbours; their values are [`Op::Part`]s.
    LoadVector {
        num: Num,
        n: u8,
        is_volatile: bool,
        is_constant: bool,
    },
    Part(u8),
    StoreVector {
        num: Num,
        n: u8,
        is_volatile: bool,
    },
    /// `atom.….add.f32`: name, its type, and whether it is for the system or the block rather than the device.
    Atomic(&'static str, &'static str, &'static str),
    /// A barrier, fence, vote or shuffle; `touches_memory` when loads stay before or after it.
    Effect {
        name: &'static str,
        touches_memory: bool,
    },
}

impl Op {
    pub(crate) fn is_pure(self) -> bool {
        !matches!(
            self,
            Op::Phi
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::LoadVector { .. }
                | Op::StoreVector { .. }
                | Op::Part(_)
                | Op::Atomic(..)
                | Op::Effect { .. }
        )
    }

    /// Returns whether the instruction must stay though nothing uses its result.
    pub(crate) fn is_effect(self) -> bool {
        match self {
            Op::Load { is_volatile, .. } | Op::LoadVector { is_volatile, .. } => is_volatile,
            Op::Store { .. } | Op::StoreVector { .. } | Op::Atomic(..) | Op::Effect { .. } => true,
            _ => false,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Instruction {
    pub op: Op,
    pub class: Class,
    pub args: Vec<Value>,
    pub block: Block,
    /// Index into the places that the lowering keeps.
    pub place: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum End {
    /// Nothing reaches the block's end yet, or ever.
    #[default]
    Open,
    Jump(Block),
    Branch(Value, Block, Block),
    Return,
    Trap,
}

impl End {
    pub(crate) fn targets(self) -> impl Iterator<Item = Block> {
        let (a, b) = match self {
            End::Jump(to) => (Some(to), None),
            End::Branch(_, then, other) => (Some(then), Some(other)),
            _ => (None, None),
        };
        a.into_iter().chain(b)
    }
}

#[derive(Debug, Default, Clone)]
pub(crate) struct BlockData {
    pub phis: Vec<Value>,
    pub code: Vec<Value>,
    pub end: End,
    pub end_place: u32,
    pub before: Vec<Block>,
    /// Rounds of a loop for each test of its end, in its first block. 1 keeps ptxas from more.
    pub unroll: usize,
    /// True if all of `before` are known.
    is_sealed: bool,
    /// Values of variables at the block's end, as far as it is built.
    variables: HashMap<Variable, Value>,
    /// Phis that wait for the rest of `before`.
    incomplete: Vec<(Variable, Value)>,
    dominator: Option<Block>,
    /// A block far above that dominates this one: what is looked for above is found in few steps.
    above: Block,
    depth: u32,
    around: Option<usize>,
    known: Vec<Known>,
}

/// Bytes that an access is to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bytes {
    base: Value,
    offset: i64,
    n: u64,
    root: Root,
}

/// A value that memory holds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known {
    at: Bytes,
    num: Num,
    value: Value,
}

/// Variables of a block at some point.
pub(crate) struct Saved {
    block: Block,
    variables: HashMap<Variable, Value>,
}

#[derive(Debug, Clone, Copy)]
struct Loop {
    before: Block,
    outer: Option<usize>,
}

/// State space of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Global,
    Shared,
    Local,
    Const,
    Generic,
}

impl Space {
    /// Returns the part of a mnemonic that names the space.
    pub(crate) fn suffix(self) -> &'static str {
        [".global", ".shared", ".local", ".const", ""][self as usize]
    }
}

/// A variable in memory.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub name: String,
    pub space: Space,
    pub bytes: u64,
    pub align: u64,
    pub initial: Option<Vec<u8>>,
    /// True if nothing changes the bytes that it has at first.
    pub is_constexpr: bool,
    /// True if other modules or the launch give the size.
    pub is_extern: bool,
    /// Scalar parts (offset, type, variable) of a local variable that has no memory.
    pub parts: Option<Vec<(u64, Num, Variable)>>,
    /// The declaration of a local variable: a name for the next attempt, when it needs memory.
    pub key: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    Object(u32),
    Param(u16),
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub values: Vec<Instruction>,
    pub blocks: Vec<BlockData>,
    pub objects: Vec<Object>,
    /// Parameters that nothing else points to (`__restrict__`), and those whose memory nobody writes.
    pub restrict: Vec<u16>,
    pub constant: Vec<u16>,
    /// Objects that the source reads, also where the value read is known.
    pub read_objects: HashSet<u32>,
    /// Addresses that each round of a loop adds to, and what they are first.
    pub pointers: HashMap<Value, Value>,
    pub current: Block,
    /// Blocks in the order of the source.
    pub order: Vec<Block>,
    pub place: u32,
    numbers: HashMap<(Op, Class, Vec<Value>), Vec<Value>>,
    loops: Vec<Loop>,
    around: Option<usize>,
    /// Values that replace others.
    same: HashMap<Value, Value>,
    pub n_variables: Variable,
    classes: Vec<Class>,
}

/// A phi whose values at the ends of the blocks before it are being read.
struct Merge {
    phi: Value,
    block: Block,
    /// The block at whose end the variable was read; none where the phi stands already.
    asked: Option<Block>,
    args: Vec<Value>,
}

impl Graph {
    pub(crate) fn new() -> Self {
        let mut graph = Self::default();
        let first = graph.block();
        graph.go_on(first);
        graph
    }

    pub(crate) fn variable(&mut self, class: Class) -> Variable {
        self.classes.push(class);
        self.n_variables += 1;
        self.n_variables - 1
    }

    pub(crate) fn at(&self, value: Value) -> &Instruction {
        &self.values[value.0 as usize]
    }

    pub(crate) fn op(&self, value: Value) -> Op {
        self.at(value).op
    }

    pub(crate) fn class(&self, value: Value) -> Class {
        self.at(value).class
    }

    pub(crate) fn constant_of(&self, value: Value) -> Option<u64> {
        match self.op(value) {
            Op::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Returns a constant as a signed number.
    pub(crate) fn signed(&self, value: Value) -> Option<i64> {
        let bits = self.constant_of(value)?;
        Some(if self.class(value) == Class::I32 { i64::from(bits as u32 as i32) } else { bits as i64 })
    }

    pub(crate) fn data(&self, block: Block) -> &BlockData {
        &self.blocks[block.0 as usize]
    }

    pub(crate) fn data_mut(&mut self, block: Block) -> &mut BlockData {
        &mut self.blocks[block.0 as usize]
    }

    // Blocks.

    pub(crate) fn block(&mut self) -> Block {
        self.blocks.push(BlockData { around: self.around, ..BlockData::default() });
        Block(self.blocks.len() as u32 - 1)
    }

    /// Goes on in a block: all ways into it are known, but those that come back in a loop.
    pub(crate) fn begin(&mut self, block: Block) {
        let before = self.data(block).before.clone();
        let dominator = before.iter().copied().reduce(|a, b| self.common(a, b));
        let depth = dominator.map_or(0, |dominator| self.data(dominator).depth + 1);
        let known = match &before[..] {
            _ if !self.data(block).is_sealed => Vec::new(),
            [] => Vec::new(),
            // Nothing else goes on from there.
            &[one] if matches!(self.data(one).end, End::Jump(_)) => std::mem::take(&mut self.data_mut(one).known),
            [first, rest @ ..] => {
                let in_all = |one: &Known| rest.iter().all(|&other| self.data(other).known.contains(one));
                self.data(*first).known.iter().filter(|one| in_all(one)).copied().collect()
            }
        };
        let above = dominator.map_or(block, |near| {
            let depth = |one: Block| self.data(one).depth;
            let far = self.data(near).above;
            let farther = self.data(far).above;
            if depth(near) - depth(far) == depth(far) - depth(farther) { farther } else { near }
        });
        let data = self.data_mut(block);
        (data.dominator, data.depth, data.known, data.above) = (dominator, depth, known, above);
        self.order.push(block);
        self.current = block;
    }

    fn common(&self, mut a: Block, mut b: Block) -> Block {
        while a != b {
            if self.data(a).depth < self.data(b).depth {
                std::mem::swap(&mut a, &mut b);
            }
            a = self.data(a).dominator.unwrap_or(Block(0));
        }
        a
    }

    pub(crate) fn dominates(&self, above: Block, mut below: Block) -> bool {
        let depth = self.data(above).depth;
        while self.data(below).depth > depth {
            let data = self.data(below);
            let Some(dominator) = data.dominator else { return false };
            below = if self.data(data.above).depth >= depth { data.above } else { dominator };
        }
        above == below
    }

    pub(crate) fn seal(&mut self, block: Block) {
        self.data_mut(block).is_sealed = true;
        for (variable, phi) in std::mem::take(&mut self.data_mut(block).incomplete) {
            self.complete(variable, Merge { phi, block, asked: None, args: Vec::new() });
        }
    }

    /// Returns whether code can be added: the current block has no end, and something leads to it.
    pub(crate) fn is_open(&self) -> bool {
        self.data(self.current).end == End::Open
    }

    /// Goes on where nothing leads to, behind a `return` or `break`.
    pub(crate) fn begin_unreachable(&mut self) {
        let block = self.block();
        self.go_on(block);
    }

    pub(crate) fn end(&mut self, end: End) {
        if !self.is_open() {
            return;
        }
        if !self.is_reached(self.current) {
            // Nothing leads here: nothing goes on from here.
            let current = self.current;
            self.data_mut(current).end = End::Trap;
            return;
        }
        let (current, place) = (self.current, self.place);
        let end = match end {
            End::Branch(condition, then, other) => match self.known_condition(condition) {
                Some(0) => End::Jump(other),
                Some(_) => End::Jump(then),
                None if then == other => End::Jump(then),
                None => end,
            },
            end => end,
        };
        for target in end.targets() {
            self.data_mut(target).before.push(current);
        }
        let data = self.data_mut(current);
        (data.end, data.end_place) = (end, place);
    }

    /// Returns a condition's value, where it is constant or the branches that lead here have tested it.
    fn known_condition(&self, condition: Value) -> Option<u64> {
        if let Some(constant) = self.constant_of(condition) {
            return Some(constant);
        }
        let (mut block, mut left) = (self.current, MAX_IMPLIED);
        for _ in 0..MAX_ABOVE {
            let above = self.data(block).dominator?;
            if let (End::Branch(tested, then, other), [_]) = (self.data(above).end, &self.data(block).before[..]) {
                let implied = match block {
                    one if one == then => self.implied(tested, true, condition, &mut left),
                    one if one == other => self.implied(tested, false, condition, &mut left),
                    _ => None,
                };
                if let Some(value) = implied {
                    return Some(u64::from(value));
                }
            }
            block = above;
        }
        None
    }

    /// Returns what follows for a condition from the value of another one. Of its parts as many are looked at as are
    /// `left`.
    fn implied(&self, tested: Value, value: bool, condition: Value, left: &mut u32) -> Option<bool> {
        if tested == condition {
            return Some(value);
        }
        *left = left.checked_sub(1)?;
        let found = self.at(tested);
        match (found.op, value) {
            (Op::Not, _) => self.implied(found.args[0], !value, condition, left),
            (Op::Arith(Arith::And, _), true) | (Op::Arith(Arith::Or, _), false) => {
                found.args.iter().find_map(|&arg| self.implied(arg, value, condition, left))
            }
            _ => None,
        }
    }

    pub(crate) fn jump(&mut self, to: Block) {
        self.end(End::Jump(to));
    }

    /// Goes on in a block to which all ways are known.
    pub(crate) fn go_on(&mut self, block: Block) {
        self.seal(block);
        self.begin(block);
    }

    /// Leads to a block, and goes on there: no other way will lead to it.
    pub(crate) fn join(&mut self, block: Block) {
        self.jump(block);
        self.go_on(block);
    }

    /// Returns whether any way leads to a block.
    pub(crate) fn is_reached(&self, block: Block) -> bool {
        block == Block(0) || !self.data(block).before.is_empty()
    }

    /// Begins the first block of a loop; [`Self::leave_loop`] ends the loop's part of the code.
    pub(crate) fn enter_loop(&mut self, unroll: usize) -> Block {
        let before = self.block();
        self.jump(before);
        self.go_on(before);
        self.loops.push(Loop { before, outer: self.around });
        self.around = Some(self.loops.len() - 1);
        let header = self.block();
        self.data_mut(header).unroll = unroll;
        self.jump(header);
        self.begin(header);
        header
    }

    pub(crate) fn leave_loop(&mut self) {
        self.around = self.around.and_then(|inner| self.loops[inner].outer);
    }

    /// Makes the first block of a loop behind `before`, where what the loop does not change is computed.
    pub(crate) fn block_of_loop(&mut self, before: Block) -> Block {
        self.loops.push(Loop { before, outer: None });
        let block = self.block();
        self.data_mut(block).around = Some(self.loops.len() - 1);
        block
    }

    /// Lets `new` dominate what `old` has dominated.
    pub(crate) fn replace_dominator(&mut self, old: Block, new: Block) {
        let BlockData { dominator, depth, above, .. } = *self.data(old);
        for data in &mut self.blocks {
            data.dominator = data.dominator.map(|one| if one == old { new } else { one });
            data.above = if data.above == old { new } else { data.above };
        }
        let data = self.data_mut(new);
        (data.dominator, data.depth, data.above) = (dominator, depth, above);
    }

    /// Forgets values that are no longer computed, and where others were.
    pub(crate) fn number_again(&mut self) {
        self.numbers.retain(|(op, ..), _| matches!(op, Op::Const(_)));
        for &block in &self.order {
            for &value in &self.blocks[block.0 as usize].code {
                let found = &self.values[value.0 as usize];
                if found.op.is_pure() {
                    self.numbers.entry((found.op, found.class, found.args.clone())).or_default().push(value);
                }
            }
        }
    }

    // Variables.

    pub(crate) fn write(&mut self, variable: Variable, value: Value) {
        let current = self.current;
        self.data_mut(current).variables.insert(variable, value);
    }

    pub(crate) fn read(&mut self, variable: Variable) -> Value {
        self.read_in(variable, self.current)
    }

    /// Returns a variable's value at a block's end if the block sets it.
    pub(crate) fn set_in(&self, variable: Variable, block: Block) -> Option<Value> {
        self.data(block).variables.get(&variable).map(|&value| self.resolve(value))
    }

    /// Returns a variable's value at a block's end.
    pub(crate) fn read_in(&mut self, variable: Variable, block: Block) -> Value {
        self.near(variable, block).unwrap_or_else(|merge| self.complete(variable, merge))
    }

    /// Returns a variable's value at a block's end, or the phi that it is, above which it must be read.
    fn near(&mut self, variable: Variable, asked: Block) -> Result<Value, Merge> {
        let mut at = asked;
        let value = loop {
            if let Some(value) = self.set_in(variable, at) {
                break value;
            }
            let data = self.data(at);
            match data.before[..] {
                [one] if data.is_sealed => at = one,
                [] if data.is_sealed => {
                    break self.push(Op::Undef, self.classes[variable as usize], Vec::new(), Block(0));
                }
                _ => {
                    let is_sealed = data.is_sealed;
                    let phi = self.push(Op::Phi, self.classes[variable as usize], Vec::new(), at);
                    let data = self.data_mut(at);
                    data.phis.push(phi);
                    data.variables.insert(variable, phi);
                    if is_sealed {
                        return Err(Merge { phi, block: at, asked: Some(asked), args: Vec::new() });
                    }
                    data.incomplete.push((variable, phi));
                    break phi;
                }
            }
        };
        self.data_mut(asked).variables.insert(variable, value);
        Ok(value)
    }

    /// Gives a phi its arguments, and first those above it theirs. Thousands may wait for each other, so they have a
    /// stack of their own.
    fn complete(&mut self, variable: Variable, merge: Merge) -> Value {
        let mut waiting = Vec::new();
        let mut merge = merge;
        loop {
            if let Some(&before) = self.data(merge.block).before.get(merge.args.len()) {
                match self.near(variable, before) {
                    Ok(value) => merge.args.push(value),
                    Err(above) => waiting.push(std::mem::replace(&mut merge, above)),
                }
                continue;
            }
            let Merge { phi, block, asked, args } = merge;
            self.values[phi.0 as usize].args = args;
            let value = self.simplify_phi(phi);
            if let Some(asked) = asked {
                self.data_mut(block).variables.insert(variable, value);
                self.data_mut(asked).variables.insert(variable, value);
            }
            let Some(below) = waiting.pop() else { return value };
            merge = below;
            merge.args.push(value);
        }
    }

    /// Replaces a phi by the only value that it can have.
    pub(crate) fn simplify_phi(&mut self, phi: Value) -> Value {
        let args: Vec<Value> = self.at(phi).args.iter().map(|&arg| self.resolve(arg)).collect();
        let mut others = args.into_iter().filter(|&arg| arg != phi);
        let Some(first) = others.next() else { return phi };
        if others.any(|other| other != first) {
            return phi;
        }
        self.same.insert(phi, first);
        let block = self.at(phi).block;
        self.data_mut(block).phis.retain(|&other| other != phi);
        first
    }

    pub(crate) fn resolve(&self, mut value: Value) -> Value {
        while let Some(&other) = self.same.get(&value) {
            value = other;
        }
        value
    }

    // Values.

    pub(crate) fn push(&mut self, op: Op, class: Class, args: Vec<Value>, block: Block) -> Value {
        self.values.push(Instruction { op, class, args, block, place: self.place });
        Value(self.values.len() as u32 - 1)
    }

    pub(crate) fn bits(&mut self, class: Class, bits: u64) -> Value {
        self.number(Op::Const(bits), class, Vec::new())
    }

    pub(crate) fn int(&mut self, class: Class, value: i64) -> Value {
        self.bits(class, if class == Class::I32 { u64::from(value as u32) } else { value as u64 })
    }

    pub(crate) fn undefined(&mut self, class: Class) -> Value {
        self.push(Op::Undef, class, Vec::new(), Block(0))
    }

    /// Makes a value without effects, folded where possible.
    pub(crate) fn make(&mut self, op: Op, class: Class, args: &[Value]) -> Value {
        debug_assert!(op.is_pure());
        match fold::simplify(self, op, class, args) {
            Some(value) => value,
            None => self.number(op, class, args.to_vec()),
        }
    }

    /// Returns an equal value that dominates the current block, or makes one.
    fn number(&mut self, op: Op, class: Class, args: Vec<Value>) -> Value {
        /// Equal values of other branches that are looked at: one may come from each of thousands.
        const MAX_TRIED: usize = 32;
        let is_constant = matches!(op, Op::Const(_));
        let key = (op, class, args);
        if let Some(found) = self.numbers.get(&key) {
            let usable = |&&value: &&Value| is_constant || self.dominates(self.at(value).block, self.current);
            if let Some(&found) = found.iter().rev().take(MAX_TRIED).find(usable) {
                return found;
            }
        }
        // What needs nothing is known everywhere.
        let mut block = if key.2.is_empty() { Block(0) } else { self.current };
        while let Some(around) = self.data(block).around {
            let before = self.loops[around].before;
            // A block behind the loop can be made before the loop is left.
            let is_inside = self.dominates(before, block);
            if !is_inside || !key.2.iter().all(|&arg| self.dominates(self.at(arg).block, before)) {
                break;
            }
            block = before;
        }
        let value = self.push(op, class, key.2.clone(), if is_constant { Block(0) } else { block });
        if !is_constant {
            self.data_mut(block).code.push(value);
        }
        self.numbers.entry(key).or_default().push(value);
        value
    }

    /// Adds an instruction with an effect.
    pub(crate) fn effect(&mut self, op: Op, class: Class, args: &[Value]) -> Value {
        let current = self.current;
        let value = self.push(op, class, args.to_vec(), current);
        self.data_mut(current).code.push(value);
        let clobbers = match op {
            Op::Atomic(..) => true,
            Op::Effect { touches_memory, .. } => touches_memory,
            _ => false,
        };
        if clobbers {
            let known = std::mem::take(&mut self.data_mut(current).known);
            self.data_mut(current).known = known.into_iter().filter(|one| self.is_private(one.at.base)).collect();
        }
        value
    }

    /// Returns an address as a value and the constant that is added to it.
    pub(crate) fn split(&self, address: Value) -> (Value, i64) {
        let found = self.at(address);
        if let (Op::Arith(Arith::Add, _), [base, offset]) = (found.op, &found.args[..])
            && let Some(offset) = self.constant_of(*offset)
        {
            return (*base, offset as i64);
        }
        (address, 0)
    }

    /// Returns the object that an address points into, if that is certain.
    pub(crate) fn object_of(&self, address: Value) -> Option<u32> {
        match self.root(address) {
            Root::Object(object) => Some(object),
            _ => None,
        }
    }

    fn root(&self, mut address: Value) -> Root {
        loop {
            let found = self.at(address);
            match found.op {
                Op::Address(object) => return Root::Object(object),
                Op::Param { index, .. } => return Root::Param(index),
                Op::Arith(Arith::Add, _) | Op::Arith(Arith::Sub, _) => address = found.args[0],
                Op::Phi if let Some(&start) = self.pointers.get(&address) => address = start,
                _ => return Root::Unknown,
            }
        }
    }

    /// Returns whether other threads cannot change the memory at an address.
    fn is_private(&self, address: Value) -> bool {
        match self.root(address) {
            Root::Object(object) => {
                matches!(self.objects[object as usize].space, Space::Local | Space::Const)
            }
            Root::Param(index) => self.constant.contains(&index),
            Root::Unknown => false,
        }
    }

    pub(crate) fn bytes_at(&self, address: Value, n: u64) -> Bytes {
        let (base, offset) = self.split(address);
        Bytes { base, offset, n, root: self.root(base) }
    }

    /// Returns whether two accesses may be to the same bytes.
    pub(crate) fn may_overlap(&self, a: &Bytes, b: &Bytes) -> bool {
        if a.base == b.base {
            return a.offset < b.offset + b.n as i64 && b.offset < a.offset + a.n as i64;
        }
        match (a.root, b.root) {
            (Root::Object(a), Root::Object(b)) => a == b,
            (Root::Object(object), Root::Param(_)) | (Root::Param(_), Root::Object(object)) => {
                self.objects[object as usize].space == Space::Global
            }
            (Root::Param(a), Root::Param(b)) if a != b => ![a, b].iter().any(|one| self.restrict.contains(one)),
            _ => true,
        }
    }

    /// Returns how many of an address's lowest bits are certainly 0.
    pub(crate) fn zeros(&self, value: Value, depth: u32) -> u32 {
        let found = self.at(value);
        let of = |at: usize| self.zeros(found.args[at], depth + 1);
        if depth > 12 {
            return 0;
        }
        match found.op {
            Op::Const(bits) => bits.trailing_zeros(),
            Op::Address(object) => self.objects[object as usize].align.trailing_zeros(),
            Op::Arith(Arith::Add | Arith::Sub | Arith::Or | Arith::Xor, _) => of(0).min(of(1)),
            Op::Arith(Arith::Mul, _) | Op::MulWide(_) => (of(0) + of(1)).min(63),
            Op::Arith(Arith::And, _) => of(0).max(of(1)),
            Op::Convert(from, to) if !from.is_float() && !to.is_float() && to.bytes() >= 4 && from != Num::Bool => {
                of(0)
            }
            Op::Select => of(1).min(of(2)),
            _ => 0,
        }
    }

    /// `align` is that of the address, as far as its type determines it.
    pub(crate) fn load(&mut self, address: Value, num: Num, is_volatile: bool, align: u8) -> Value {
        let at = self.bytes_at(address, num.bytes());
        self.read_objects.extend(self.object_of(address));
        let is_constant = matches!(at.root, Root::Param(index) if self.constant.contains(&index));
        let current = self.current;
        if !is_volatile {
            let is_same = |one: &&Known| one.num == num && one.at == at;
            if let Some(known) = self.data(current).known.iter().find(is_same) {
                return known.value;
            }
        }
        let value = self.effect(Op::Load { num, is_volatile, is_constant, align }, num.class(), &[address]);
        if !is_volatile {
            self.remember(Known { at, num, value });
        }
        value
    }

    fn remember(&mut self, one: Known) {
        let current = self.current;
        let known = &mut self.data_mut(current).known;
        if known.len() >= MAX_KNOWN {
            known.remove(0);
        }
        known.push(one);
    }

    pub(crate) fn store(&mut self, address: Value, num: Num, value: Value, is_volatile: bool, align: u8) {
        self.effect(Op::Store { num, is_volatile, align }, Class::None, &[address, value]);
        let at = self.bytes_at(address, num.bytes());
        let stored = Known { at, num, value };
        let mut known = std::mem::take(&mut self.data_mut(self.current).known);
        known.retain(|one| !self.may_overlap(&one.at, &at));
        let current = self.current;
        self.data_mut(current).known = known;
        // The value read back is the one stored, but for integers that memory cuts.
        if !is_volatile && num.bytes() >= 4 {
            self.remember(stored);
        }
    }

    /// Returns whether a block sets a variable to another value than it has at the end of `before`.
    pub(crate) fn changes(&mut self, block: Block, before: Block) -> bool {
        let set: Vec<(Variable, Value)> = self.data(block).variables.iter().map(|(&a, &b)| (a, b)).collect();
        set.into_iter().any(|(variable, value)| self.read_in(variable, before) != self.resolve(value))
    }

    /// Returns whether a block is short, has no effects and reads no memory: its code may run where it need not.
    pub(crate) fn is_flat(&self, block: Block) -> bool {
        const MAX_FLAT: usize = 40;
        let data = self.data(block);
        let is_cheap = |&value: &Value| {
            let op = self.op(value);
            op.is_pure() && !matches!(op, Op::Arith(Arith::Div | Arith::Rem, _) | Op::Pure(_))
        };
        data.phis.is_empty() && data.code.len() <= MAX_FLAT && data.code.iter().all(is_cheap)
    }

    /// Moves the code of a block to the only one that leads to it.
    pub(crate) fn flatten(&mut self, from: Block, into: Block) {
        let code = std::mem::take(&mut self.data_mut(from).code);
        for &value in &code {
            self.values[value.0 as usize].block = into;
        }
        self.data_mut(into).code.extend(code);
    }

    /// Joins the branch of a block with that of the only block before it, if one of their targets is the same and the
    /// block only computes a condition.
    pub(crate) fn test_together(&mut self, second: Block) {
        let [first] = self.data(second).before[..] else { return };
        let (End::Branch(a, then_a, other_a), End::Branch(b, then_b, other_b)) =
            (self.data(first).end, self.data(second).end)
        else {
            return;
        };
        let is_and = then_a == second && other_a == other_b;
        let is_or = other_a == second && then_a == then_b;
        if !(is_and || is_or) || first == second || !self.is_flat(second) || self.changes(second, first) {
            return;
        }
        let is_phi_free = |block: Block| self.data(block).phis.is_empty();
        if !is_phi_free(then_b) || !is_phi_free(other_b) {
            return;
        }
        self.reopen(second);
        self.reopen(first);
        self.flatten(second, first);
        self.current = first;
        let op = Op::Arith(if is_and { Arith::And } else { Arith::Or }, false);
        let both = self.make(op, Class::Pred, &[a, b]);
        self.end(End::Branch(both, then_b, other_b));
    }

    /// Remembers the current block's variables, for code on trial.
    pub(crate) fn save(&self) -> Saved {
        Saved { block: self.current, variables: self.data(self.current).variables.clone() }
    }

    /// Drops the code since [`Self::save`], which had no effects, and how it ended the block.
    pub(crate) fn restore(&mut self, saved: Saved) {
        self.current = saved.block;
        self.reopen(saved.block);
        self.data_mut(saved.block).variables = saved.variables;
    }

    /// Forgets how a block ends, to end it otherwise.
    pub(crate) fn reopen(&mut self, block: Block) {
        let end = std::mem::take(&mut self.data_mut(block).end);
        for target in end.targets() {
            self.data_mut(target).before.retain(|&one| one != block);
        }
    }
}
