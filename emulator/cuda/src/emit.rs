//! PTX of the kernels: registers for values, labels for blocks, copies for phis, and the lines of the source.

use crate::map::{HashMap, HashSet};

use ptx::ast::{
    FunctionKind, Guard, Immediate, Initializer, InlinedAt, Instruction, Item, Linkage, Loc, Module, Operand, RegDecl,
    SourceFile, Statement, Variable,
};
use ptx::ast::{Space as PtxSpace, Type as PtxType};

use crate::lower::Kernel;
use crate::source::{Place, Sources};
use crate::ssa::{Arith, Block, Class, Compare, End, Graph, Num, Object, Op, Space, Value};
use crate::{passes, registers};

const VERSION: (u32, u32) = (8, 4);
const TARGET: &str = "sm_75";

/// Writes the module of these kernels; `symbols` are those of the functions that were inlined.
pub(crate) fn module(kernels: Vec<Kernel>, symbols: &[String], sources: &Sources) -> Module {
    let mut items: Vec<Item> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let mut functions = Vec::new();
    let mut files: Vec<u16> = Vec::new();
    for (number, kernel) in kernels.into_iter().enumerate() {
        for object in &kernel.graph.objects {
            let is_of_file = object.key == 1 || object.is_extern;
            let is_used = object.space != Space::Local && (is_of_file && is_kept(&kernel.graph, object));
            if is_used && !known.contains(&object.name) {
                known.push(object.name.clone());
                items.push(Item::Variable(file_variable(object)));
            }
        }
        for site in &kernel.sites {
            if !files.contains(&site.place.file) {
                files.push(site.place.file);
            }
        }
        functions.push(Item::Function(Emitter::new(kernel, number).function()));
    }
    items.extend(functions);
    if !symbols.is_empty() {
        let labels = symbols.iter().enumerate().map(|(number, symbol)| {
            let bytes: Vec<String> = symbol.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            format!("$L__info_string{number}:\n.b8 {}\n", bytes.join(","))
        });
        let text = format!(".section .debug_str\n{{\n{}}}", labels.collect::<String>());
        items.push(Item::Section(Default::default(), text));
    }
    files.sort_unstable();
    let files = files
        .into_iter()
        .map(|file| SourceFile { index: u32::from(file) + 1, path: sources.files[usize::from(file)].name.clone() });
    Module { version: VERSION, target: vec![TARGET.to_owned()], address_size: 64, files: files.collect(), items }
}

/// Variables that the host can reach stay, others only where they are used.
fn is_kept(graph: &Graph, object: &Object) -> bool {
    let is_used = || {
        passes::all_code(graph).any(|value| match graph.op(value) {
            Op::Address(number) => graph.objects[number as usize].name == object.name,
            _ => false,
        })
    };
    !object.is_constexpr && object.space != Space::Shared || is_used()
}

fn variable(space: PtxSpace, align: u64, name: &str, bytes: Option<u64>) -> Variable {
    Variable {
        span: Default::default(),
        linkage: Linkage::Internal,
        space,
        align: Some(align as u32),
        vector: 1,
        ty: PtxType::B8,
        name: name.to_owned(),
        dims: vec![bytes],
        init: None,
        ptr: None,
        attributes: Vec::new(),
    }
}

fn file_variable(object: &Object) -> Variable {
    let space = match object.space {
        Space::Shared => PtxSpace::Shared,
        Space::Const => PtxSpace::Const,
        _ => PtxSpace::Global,
    };
    let bytes = Some(object.bytes).filter(|_| !object.is_extern);
    let mut found = variable(space, object.align, &object.name, bytes);
    found.linkage = match (object.is_extern, object.is_constexpr || space == PtxSpace::Shared) {
        (true, _) => Linkage::Extern,
        (_, true) => Linkage::Internal,
        _ => Linkage::Visible,
    };
    found.init = object
        .initial
        .as_ref()
        .map(|bytes| Initializer::List(bytes.iter().map(|&byte| Initializer::Int(i128::from(byte))).collect()));
    found
}

fn name(name: impl Into<String>) -> Operand {
    Operand::Name(name.into())
}

fn int(value: i64) -> Operand {
    Operand::Immediate(Immediate::Int(i128::from(value)))
}

#[derive(Default)]
struct Emitter {
    kernel: Kernel,
    number: usize,
    statements: Vec<Statement>,
    registers: HashMap<Value, String>,
    /// The value whose register a value shares.
    shared: HashMap<Value, Value>,
    counts: HashMap<Class, u32>,
    spaces: Vec<Option<Space>>,
    /// Parts of loaded vectors.
    parts: HashMap<Value, Vec<(u8, Value)>>,
    /// Local variables: offset in the depot.
    frame: HashMap<u32, u64>,
    frame_bytes: u64,
    frame_align: u64,
    site: Option<u32>,
    /// Places of the `.loc` lines so far.
    places: HashSet<Place>,
    uses: HashMap<Value, u32>,
}

impl Emitter {
    fn new(kernel: Kernel, number: usize) -> Self {
        Self { kernel, number, frame_align: 1, ..Self::default() }
    }

    fn graph(&self) -> &Graph {
        &self.kernel.graph
    }

    fn label(&self, block: Block) -> String {
        format!("$L__BB{}_{}", self.number, block.0)
    }

    fn depot(&self) -> String {
        format!("__local_depot{}", self.number)
    }

    fn function(mut self) -> ptx::ast::Function {
        self.infer_spaces();
        self.generic_addresses();
        self.lay_out_frame();
        self.shared = registers::shared(self.graph());
        for block in self.graph().order.clone() {
            let data = self.graph().data(block).clone();
            for &value in data.code.iter().chain(&data.phis) {
                for operand in passes::operands(self.graph(), value) {
                    *self.uses.entry(operand).or_default() += 1;
                }
                if let Op::Part(index) = self.graph().op(value) {
                    let vector = self.graph().at(value).args[0];
                    self.parts.entry(vector).or_default().push((index, value));
                }
            }
            if let End::Branch(condition, ..) = data.end {
                *self.uses.entry(condition).or_default() += 1;
            }
        }
        let order = self.graph().order.clone();
        for (at, &block) in order.iter().enumerate() {
            self.block(block, order.get(at + 1).copied(), at == 0);
        }
        self.assemble()
    }

    fn assemble(self) -> ptx::ast::Function {
        let Emitter { kernel, counts, statements, .. } = &self;
        let mut body = Vec::new();
        let classes = [
            (Class::Pred, PtxType::Pred),
            (Class::F32, PtxType::F32),
            (Class::I32, PtxType::B32),
            (Class::F64, PtxType::F64),
            (Class::I64, PtxType::B64),
        ];
        for (class, ty) in classes {
            if let Some(&n) = counts.get(&class) {
                let names = vec![(prefix(class).to_owned(), Some(n + 1))];
                body.push(Statement::Reg(RegDecl { span: Default::default(), vector: 1, ty, names }));
            }
        }
        let place = self.kernel.sites.first().map(|site| site.place);
        if let Some(place) = place {
            let loc = Loc { file: u32::from(place.file) + 1, line: place.line, column: 0, inlined_at: None };
            body.push(Statement::Loc(loc));
        }
        for object in &kernel.graph.objects {
            if object.space == Space::Shared && !object.is_extern && object.key != 1 && is_kept(&kernel.graph, object) {
                body.push(Statement::Variable(variable(
                    PtxSpace::Shared,
                    object.align,
                    &object.name,
                    Some(object.bytes),
                )));
            }
        }
        if self.frame_bytes > 0 {
            let depot = variable(PtxSpace::Local, self.frame_align, &self.depot(), Some(self.frame_bytes));
            body.insert(0, Statement::Variable(depot));
        }
        body.extend(statements.iter().cloned());
        let params = kernel.parameters.iter().enumerate().map(|(index, ty)| {
            let name = format!("{}_param_{index}", kernel.symbol);
            let mut param = variable(PtxSpace::Param, ty.align(), &name, Some(ty.bytes()));
            if let Some(num) = ty.num() {
                (param.align, param.dims) = (None, Vec::new());
                param.ty = match num {
                    Num::F32 => PtxType::F32,
                    Num::F64 => PtxType::F64,
                    other => {
                        [PtxType::U8, PtxType::U16, PtxType::U32, PtxType::U64][other.bytes().trailing_zeros() as usize]
                    }
                };
            }
            param
        });
        let mut directives = Vec::new();
        if let Some(&threads) = kernel.bounds.first() {
            directives.push(("maxntid".to_owned(), vec![threads, 1, 1]));
        }
        if let Some(&blocks) = kernel.bounds.get(1) {
            directives.push(("minnctapersm".to_owned(), vec![blocks]));
        }
        ptx::ast::Function {
            span: Default::default(),
            linkage: Linkage::Visible,
            kind: FunctionKind::Entry,
            name: kernel.symbol.clone(),
            returns: Vec::new(),
            params: params.collect(),
            noreturn: false,
            attributes: Vec::new(),
            directives,
            body: Some(body),
        }
    }

    // Addresses.

    /// Finds out which addresses are of one state space.
    fn infer_spaces(&mut self) {
        let graph = &self.kernel.graph;
        let mut spaces: Vec<Option<Space>> = vec![None; graph.values.len()];
        let join = |a: Option<Space>, b: Option<Space>| match (a, b) {
            (None, other) | (other, None) => other,
            (Some(a), Some(b)) => Some(if a == b { a } else { Space::Generic }),
        };
        let values: Vec<Value> = passes::all_code(graph).collect();
        loop {
            let mut changed = false;
            for &value in &values {
                let found = graph.at(value);
                if found.class != Class::I64 {
                    continue;
                }
                let of = |arg: Value| match graph.op(arg) {
                    Op::Const(_) => Some(Space::Generic),
                    _ => spaces[arg.0 as usize],
                };
                let space = match found.op {
                    Op::Address(object) => Some(graph.objects[object as usize].space),
                    Op::Param { .. } => Some(Space::Global),
                    Op::Arith(Arith::Add | Arith::Sub, _) => {
                        let second = found.args[1];
                        let is_difference = found.op == Op::Arith(Arith::Sub, false);
                        match spaces[found.args[0].0 as usize] {
                            Some(_) if is_difference && spaces[second.0 as usize].is_some() => None,
                            Some(space) => Some(space),
                            None => spaces[second.0 as usize],
                        }
                    }
                    Op::Phi => found.args.iter().filter(|&&arg| arg != value).map(|&arg| of(arg)).fold(None, join),
                    Op::Select => join(of(found.args[1]), of(found.args[2])),
                    Op::Load { .. } | Op::Part(_) | Op::Atomic(..) | Op::Effect { .. } => Some(Space::Generic),
                    _ => None,
                };
                if space.is_some() && spaces[value.0 as usize] != space {
                    // Once generic, it stays so.
                    let space = join(spaces[value.0 as usize], space);
                    changed |= spaces[value.0 as usize] != space;
                    spaces[value.0 as usize] = space;
                }
            }
            if !changed {
                break;
            }
        }
        self.spaces = spaces;
    }

    fn space(&self, value: Value) -> Option<Space> {
        self.spaces.get(value.0 as usize).copied().flatten()
    }

    /// Converts addresses of shared, local and constant memory where any address can stand.
    fn generic_addresses(&mut self) {
        let is_specific = |space: Option<Space>| matches!(space, Some(Space::Shared | Space::Local | Space::Const));
        for block in self.graph().order.clone() {
            let data = self.graph().data(block).clone();
            for &phi in &data.phis {
                for at in 0..data.before.len() {
                    let arg = self.graph().at(phi).args[at];
                    if is_specific(self.space(arg)) && self.space(phi) != self.space(arg) {
                        let before = data.before[at];
                        let generic = self.generic(arg, before);
                        self.kernel.graph.data_mut(before).code.push(generic);
                        self.kernel.graph.values[phi.0 as usize].args[at] = generic;
                    }
                }
            }
            let mut code = Vec::new();
            for value in self.graph().data(block).code.clone() {
                let found = self.graph().at(value).clone();
                for (at, &arg) in found.args.iter().enumerate() {
                    if !is_specific(self.space(arg)) {
                        continue;
                    }
                    let is_fine = match found.op {
                        Op::Load { .. } | Op::LoadVector { .. } => true,
                        Op::Store { .. } | Op::StoreVector { .. } | Op::Atomic(..) => at == 0,
                        Op::Arith(Arith::Sub, false) => self.space(found.args[0]) == self.space(found.args[1]),
                        Op::Arith(Arith::Add | Arith::Sub, _) | Op::Select => self.space(value) == self.space(arg),
                        Op::Compare(..) => self.space(found.args[0]) == self.space(found.args[1]),
                        Op::Pure(name) => name.starts_with("cvta."),
                        _ => false,
                    };
                    if !is_fine {
                        let generic = self.generic(arg, block);
                        code.push(generic);
                        self.kernel.graph.values[value.0 as usize].args[at] = generic;
                    }
                }
                code.push(value);
            }
            self.kernel.graph.data_mut(block).code = code;
        }
    }

    fn generic(&mut self, address: Value, block: Block) -> Value {
        let name = match self.space(address) {
            Some(Space::Shared) => "cvta.shared.u64",
            Some(Space::Const) => "cvta.const.u64",
            _ => "cvta.local.u64",
        };
        let place = self.graph().at(address).place;
        self.kernel.graph.place = place;
        self.kernel.graph.push(Op::Pure(name), Class::I64, vec![address], block)
    }

    fn lay_out_frame(&mut self) {
        let graph = &self.kernel.graph;
        let local = |value| match graph.op(value) {
            Op::Address(number) if graph.objects[number as usize].space == Space::Local => Some(number),
            _ => None,
        };
        let numbers: std::collections::BTreeSet<u32> = passes::all_code(graph).filter_map(local).collect();
        for number in numbers {
            let object = &graph.objects[number as usize];
            self.frame_bytes = self.frame_bytes.next_multiple_of(object.align);
            self.frame_align = self.frame_align.max(object.align);
            self.frame.insert(number, self.frame_bytes);
            self.frame_bytes += object.bytes;
        }
    }

    // Blocks.

    fn block(&mut self, block: Block, next: Option<Block>, is_first: bool) {
        let data = self.graph().data(block).clone();
        if !is_first {
            let label = self.label(block);
            self.statements.push(Statement::Label(Default::default(), label));
        }
        if data.unroll == 1 {
            self.statements.push(Statement::Pragma(Default::default(), vec!["nounroll".to_owned()]));
        }
        for &value in &data.code {
            self.instruction(value);
        }
        self.at_site(data.end_place);
        match data.end {
            End::Open | End::Trap => self.add("trap", Vec::new()),
            End::Return => self.add("ret", Vec::new()),
            End::Jump(to) => self.go_on(block, to, next),
            End::Branch(condition, then, other) => {
                let (register, negated) = self.guard(condition);
                let needs = [then, other].map(|to| self.needs_copies(block, to));
                if needs == [true; 2] {
                    let label = format!("{}_{}", self.label(block), then.0);
                    self.guarded(Some((register, negated)), "bra", vec![name(&label)]);
                    self.copies(block, other);
                    self.branch(None, other);
                    self.statements.push(Statement::Label(Default::default(), label));
                    self.go_on(block, then, next);
                } else if needs[0] || !needs[1] && next == Some(then) {
                    self.branch(Some((register, !negated)), other);
                    self.go_on(block, then, next);
                } else {
                    self.branch(Some((register, negated)), then);
                    self.go_on(block, other, next);
                }
            }
        }
    }

    /// Sets the phis of a block, and jumps there unless it is the next one.
    fn go_on(&mut self, from: Block, to: Block, next: Option<Block>) {
        self.copies(from, to);
        if next != Some(to) {
            self.branch(None, to);
        }
    }

    /// Returns the register of a condition, and whether its negation is meant.
    fn guard(&mut self, mut condition: Value) -> (String, bool) {
        let mut negated = false;
        while self.graph().op(condition) == Op::Not {
            condition = self.graph().at(condition).args[0];
            negated = !negated;
        }
        (self.in_register(condition), negated)
    }

    fn branch(&mut self, guard: Option<(String, bool)>, to: Block) {
        let label = self.label(to);
        self.guarded(guard, "bra", vec![name(label)]);
    }

    fn needs_copies(&self, from: Block, to: Block) -> bool {
        let data = self.graph().data(to);
        let Some(at) = data.before.iter().position(|&one| one == from) else { return false };
        let of = |value: Value| self.shared.get(&value).copied().unwrap_or(value);
        data.phis.iter().any(|&phi| of(phi) != of(self.graph().at(phi).args[at]))
    }

    /// Sets the phis of a block, all at once.
    fn copies(&mut self, from: Block, to: Block) {
        let data = self.graph().data(to);
        let Some(at) = data.before.iter().position(|&one| one == from) else { return };
        let phis = data.phis.clone();
        // Of each register, any value that has it.
        let of = |value: Value| self.shared.get(&value).copied().unwrap_or(value);
        let pairs = phis.into_iter().map(|phi| (of(phi), of(self.graph().at(phi).args[at])));
        let mut waiting: Vec<(Value, Value)> = pairs.filter(|(phi, arg)| phi != arg).collect();
        while !waiting.is_empty() {
            let is_free = |phi: Value| !waiting.iter().any(|&(other, arg)| arg == phi && other != phi);
            match waiting.iter().position(|&(phi, _)| is_free(phi)) {
                Some(at) => {
                    let (phi, arg) = waiting.remove(at);
                    self.copy(phi, arg);
                }
                None => {
                    // A circle: one of the old values moves out of the way.
                    let old = waiting[0].0;
                    let found = self.graph().at(old).clone();
                    let aside = self.kernel.graph.push(Op::Undef, found.class, Vec::new(), from);
                    self.copy(aside, old);
                    for (_, arg) in &mut waiting {
                        if *arg == old {
                            *arg = aside;
                        }
                    }
                }
            }
        }
    }

    fn copy(&mut self, to: Value, from: Value) {
        if self.graph().op(from) == Op::Undef && !self.registers.contains_key(&from) && self.graph().op(to) == Op::Phi {
            // Nothing is copied from nowhere, but the register stays without a value only if nothing else set it.
            let register = self.register(from);
            let to = self.register(to);
            let class = self.graph().class(from);
            self.add(&format!("mov.{}", bits(class)), vec![name(to), name(register)]);
            return;
        }
        let class = self.graph().class(to);
        let to = self.register(to);
        let from = self.operand(from);
        let ty = if let Operand::Immediate(Immediate::F32(_) | Immediate::F64(_)) = from {
            class_name(class)
        } else {
            bits(class)
        };
        self.add(&format!("mov.{ty}"), vec![name(to), from]);
    }

    // Instructions.

    fn at_site(&mut self, site: u32) {
        if self.site == Some(site) || self.kernel.sites.get(site as usize).is_none() {
            return;
        }
        self.site = Some(site);
        let mut chain = vec![self.kernel.sites[site as usize]];
        while let Some((call, _)) = chain.last().and_then(|site| site.call) {
            chain.push(self.kernel.sites[call as usize]);
        }
        // The calls around it come first, the outermost once: `inlined_at` takes a place that a `.loc` before it has.
        for at in (0..chain.len()).rev() {
            let site = chain[at];
            let is_new = self.places.insert(site.place);
            if at + 1 == chain.len() && chain.len() > 1 && !is_new {
                continue;
            }
            let inlined_at = site.call.map(|(_, symbol)| {
                let call = chain[at + 1].place;
                InlinedAt {
                    function: format!("$L__info_string{symbol}"),
                    function_offset: 0,
                    file: u32::from(call.file) + 1,
                    line: call.line,
                    column: call.column,
                }
            });
            let place = site.place;
            let loc = Loc { file: u32::from(place.file) + 1, line: place.line, column: place.column, inlined_at };
            self.statements.push(Statement::Loc(loc));
        }
    }

    fn add(&mut self, mnemonic: &str, operands: Vec<Operand>) {
        self.guarded(None, mnemonic, operands);
    }

    fn guarded(&mut self, guard: Option<(String, bool)>, mnemonic: &str, operands: Vec<Operand>) {
        let mut words = mnemonic.split('.');
        let opcode = words.next().unwrap_or_default().to_owned();
        self.statements.push(Statement::Instruction(Instruction {
            span: Default::default(),
            guard: guard.map(|(register, negated)| Guard { register, negated }),
            opcode,
            modifiers: words.map(str::to_owned).collect(),
            operands,
        }));
    }

    fn fresh(&mut self, class: Class) -> String {
        let n = self.counts.entry(class).or_default();
        *n += 1;
        format!("{}{n}", prefix(class))
    }

    fn register(&mut self, value: Value) -> String {
        let value = self.shared.get(&value).copied().unwrap_or(value);
        if let Some(found) = self.registers.get(&value) {
            return found.clone();
        }
        let class = self.graph().class(value);
        let register = self.fresh(class);
        self.registers.insert(value, register.clone());
        register
    }

    fn operand(&mut self, value: Value) -> Operand {
        let found = self.graph().at(value);
        let Op::Const(constant) = found.op else { return name(self.register(value)) };
        match found.class {
            Class::F32 => Operand::Immediate(Immediate::F32(constant as u32)),
            Class::F64 => Operand::Immediate(Immediate::F64(constant)),
            Class::I32 => int(i64::from(constant as u32 as i32)),
            Class::Pred => int(-(constant as i64)),
            _ => int(constant as i64),
        }
    }

    /// Returns a register with a value, also of a constant.
    fn in_register(&mut self, value: Value) -> String {
        let class = self.graph().class(value);
        match self.operand(value) {
            Operand::Name(register) => register,
            constant => {
                let register = self.fresh(class);
                let ty = if matches!(class, Class::F32 | Class::F64) { class_name(class) } else { bits(class) };
                self.add(&format!("mov.{ty}"), vec![name(&register), constant]);
                register
            }
        }
    }

    fn address(&mut self, address: Value) -> (Operand, Space) {
        let (base, offset) = self.graph().split(address);
        let space = self.space(base).or(self.space(address)).unwrap_or(Space::Generic);
        if let Op::Address(number) = self.graph().op(base) {
            let object = &self.graph().objects[number as usize];
            let (symbol, offset) = match self.frame.get(&number) {
                Some(&at) => (self.depot(), at as i64 + offset),
                None => (object.name.clone(), offset),
            };
            return (Operand::Address { base: Some(symbol), offset }, space);
        }
        let register = self.in_register(base);
        (Operand::Address { base: Some(register), offset }, space)
    }

    fn access(&self, opcode: &str, space: Space, num: Num, rest: (bool, bool, usize)) -> String {
        let (is_volatile, is_constant, n) = rest;
        let mut text = opcode.to_owned();
        // Nothing else sees local memory.
        if is_volatile && space != Space::Local {
            text += ".volatile";
        }
        text += space.suffix();
        if is_constant && matches!(space, Space::Global) {
            text += ".nc";
        }
        if n > 1 {
            text += &format!(".v{n}");
        }
        let ty = match num {
            Num::S32 => "u32",
            Num::S64 => "u64",
            other => other.name(),
        };
        format!("{text}.{ty}")
    }

    fn instruction(&mut self, value: Value) {
        let Some(found) = self.graph().values.get(value.0 as usize).cloned() else { return };
        let (op, class, args) = (found.op, found.class, found.args);
        if matches!(op, Op::Const(_) | Op::Undef | Op::Part(_)) {
            return;
        }
        // What only branches read is negated there.
        self.at_site(found.place);
        let ty = class_name(class);
        match op {
            Op::Param { index, offset, num } => {
                let base = Some(format!("{}_param_{index}", self.kernel.symbol));
                let operand = Operand::Address { base, offset: i64::from(offset) };
                let mnemonic = self.access("ld.param", Space::Generic, num, (false, false, 1));
                self.load(value, num, &mnemonic, operand);
            }
            Op::Special(register) => {
                let to = self.register(value);
                self.add("mov.u32", vec![name(to), name(format!("%{register}"))]);
            }
            Op::Address(number) => {
                // Accesses name it themselves.
                if !self.uses.contains_key(&value) {
                    return;
                }
                let to = self.register(value);
                let object = &self.graph().objects[number as usize];
                let operand = match self.frame.get(&number) {
                    Some(0) => name(self.depot()),
                    Some(&offset) => Operand::NameOffset { name: self.depot(), offset: offset as i64 },
                    None => name(object.name.clone()),
                };
                self.add("mov.u64", vec![name(to), operand]);
            }
            Op::Arith(arith, is_signed) => self.arith(value, arith, is_signed, class, &args),
            Op::Neg => self.plain(&format!("neg.{}", signed_name(class)), value, &args),
            Op::Not => self.plain(&format!("not.{}", bits(class)), value, &args),
            Op::Compare(compare, is_signed) => {
                let of = self.graph().class(args[0]);
                let is_float = matches!(of, Class::F32 | Class::F64);
                let is_order = !matches!(compare, Compare::Eq | Compare::Ne);
                let word = match compare {
                    Compare::Eq => "eq",
                    Compare::Ne if is_float => "neu",
                    Compare::Ne => "ne",
                    Compare::Lt => "lt",
                    Compare::Le => "le",
                    Compare::Gt => "gt",
                    Compare::Ge => "ge",
                };
                let ty = match of {
                    Class::F32 | Class::F64 => class_name(of),
                    _ if is_signed || !is_order => signed_name(of),
                    Class::I32 => "u32",
                    _ => "u64",
                };
                let first = self.in_register(args[0]);
                let second = self.operand(args[1]);
                let to = self.register(value);
                self.add(&format!("setp.{word}.{ty}"), vec![name(to), name(first), second]);
            }
            Op::Select => {
                let (a, b) = (self.operand(args[1]), self.operand(args[2]));
                let condition = self.in_register(args[0]);
                let ty = if matches!(class, Class::F32 | Class::F64) { ty } else { bits(class) };
                let to = self.register(value);
                self.add(&format!("selp.{ty}"), vec![name(to), a, b, name(condition)]);
            }
            Op::Convert(Num::Bool, _) => {
                let [one, zero] = [1u8, 0].map(|number| match class {
                    Class::F32 => Operand::Immediate(Immediate::F32(f32::from(number).to_bits())),
                    Class::F64 => Operand::Immediate(Immediate::F64(f64::from(number).to_bits())),
                    _ => int(number.into()),
                });
                let condition = self.in_register(args[0]);
                let to = self.register(value);
                self.add(&format!("selp.{ty}"), vec![name(to), one, zero, name(condition)]);
            }
            Op::Convert(from, to) => {
                let rounding = match (from.is_float(), to.is_float()) {
                    (true, false) => ".rzi",
                    (false, true) => ".rn",
                    (true, true) if to == Num::F32 => ".rn",
                    _ => "",
                };
                let from_name = from.name();
                // A narrow integer of the low bits of a register.
                let is_narrow = to.bytes() < 4 && !from.is_float();
                let from_name = if is_narrow { to.name() } else { from_name };
                let to_name = if is_narrow { if to.is_signed() { "s32" } else { "u32" } } else { to.name() };
                self.plain(&format!("cvt{rounding}.{to_name}.{from_name}"), value, &args);
            }
            Op::Bits => self.plain(&format!("mov.{}", bits(class)), value, &args),
            Op::Fma => self.plain(&format!("fma.rn.{ty}"), value, &args),
            Op::MulWide(is_signed) => {
                self.plain(if is_signed { "mul.wide.s32" } else { "mul.wide.u32" }, value, &args);
            }
            Op::Pure(mnemonic) => self.plain(mnemonic, value, &args),
            Op::Load { num, is_volatile, is_constant, .. } => {
                let (address, space) = self.address(args[0]);
                let mnemonic = self.access("ld", space, num, (is_volatile, is_constant, 1));
                self.load(value, num, &mnemonic, address);
            }
            Op::LoadVector { num, n, is_volatile, is_constant } => {
                let (address, space) = self.address(args[0]);
                let mnemonic = self.access("ld", space, num, (is_volatile, is_constant, usize::from(n)));
                let parts = self.parts.get(&value).cloned().unwrap_or_default();
                let registers = (0..n).map(|index| match parts.iter().find(|(at, _)| *at == index) {
                    Some(&(_, part)) => name(self.register(part)),
                    None => name(self.fresh(num.class())),
                });
                let registers = Operand::Vector(registers.collect());
                self.add(&mnemonic, vec![registers, address]);
            }
            Op::Store { num, is_volatile, .. } => {
                let mut stored = self.in_register(args[1]);
                if num == Num::Bool {
                    let byte = self.fresh(Class::I32);
                    self.add("selp.u32", vec![name(&byte), int(1), int(0), name(stored)]);
                    stored = byte;
                }
                let (address, space) = self.address(args[0]);
                let mnemonic = self.access("st", space, num, (is_volatile, false, 1));
                self.add(&mnemonic, vec![address, name(stored)]);
            }
            Op::StoreVector { num, n, is_volatile } => {
                let stored = args[1..].iter().map(|&arg| name(self.in_register(arg))).collect();
                let (address, space) = self.address(args[0]);
                let mnemonic = self.access("st", space, num, (is_volatile, false, usize::from(n)));
                self.add(&mnemonic, vec![address, Operand::Vector(stored)]);
            }
            Op::Atomic(op, ty, scope) => {
                let rest: Vec<Operand> = args[1..].iter().map(|&arg| name(self.in_register(arg))).collect();
                let (address, space) = self.address(args[0]);
                let space = if matches!(space, Space::Global | Space::Shared) { space.suffix() } else { "" };
                let scope = if scope.is_empty() { String::new() } else { format!(".{scope}") };
                let is_used = self.uses.contains_key(&value) || matches!(op, "exch" | "cas");
                let mut operands = Vec::new();
                if is_used {
                    operands.push(name(self.register(value)));
                }
                operands.push(address);
                operands.extend(rest);
                let opcode = if is_used { "atom" } else { "red" };
                self.add(&format!("{opcode}{space}{scope}.{op}.{ty}"), operands);
            }
            Op::Effect { name: mnemonic, .. } => {
                let (mnemonic, first) = mnemonic.split_once(' ').unwrap_or((mnemonic, ""));
                let mut operands = Vec::new();
                if class != Class::None {
                    operands.push(name(self.register(value)));
                }
                match first.parse::<i64>() {
                    Ok(number) => operands.push(int(number)),
                    Err(_) if first.is_empty() => {}
                    Err(_) => operands.push(name(first)),
                }
                for &arg in &args {
                    let is_predicate = self.graph().class(arg) == Class::Pred;
                    operands.push(if is_predicate { name(self.in_register(arg)) } else { self.operand(arg) });
                }
                self.add(mnemonic, operands);
            }
            Op::Const(_) | Op::Undef | Op::Part(_) | Op::Phi => {}
        }
    }

    /// Loads a scalar; a `bool` from its byte.
    fn load(&mut self, value: Value, num: Num, mnemonic: &str, from: Operand) {
        if num == Num::Bool {
            let byte = self.fresh(Class::I32);
            self.add(mnemonic, vec![name(&byte), from]);
            let to = self.register(value);
            return self.add("setp.ne.s32", vec![name(to), name(byte), int(0)]);
        }
        let to = self.register(value);
        self.add(mnemonic, vec![name(to), from]);
    }

    /// An instruction with a result and values.
    fn plain(&mut self, mnemonic: &str, value: Value, args: &[Value]) {
        // The first operand is a register: all forms take one there.
        let mut operands = Vec::new();
        for (at, &arg) in args.iter().enumerate() {
            operands.push(if at == 0 { name(self.in_register(arg)) } else { self.operand(arg) });
        }
        operands.insert(0, name(self.register(value)));
        self.add(mnemonic, operands);
    }

    fn arith(&mut self, value: Value, arith: Arith, is_signed: bool, class: Class, args: &[Value]) {
        let is_float = matches!(class, Class::F32 | Class::F64);
        let sign = if is_signed { signed_name(class) } else { class_name(class) };
        let (word, ty) = match arith {
            Arith::Mul if is_float => ("mul", sign),
            Arith::Div if is_float => ("div.rn", sign),
            Arith::Add => ("add", signed_name(class)),
            Arith::Sub => ("sub", signed_name(class)),
            Arith::Mul => ("mul.lo", signed_name(class)),
            Arith::MulHi => ("mul.hi", sign),
            Arith::Div => ("div", sign),
            Arith::Rem => ("rem", sign),
            Arith::And => ("and", bits(class)),
            Arith::Or => ("or", bits(class)),
            Arith::Xor => ("xor", bits(class)),
            Arith::Shl => ("shl", bits(class)),
            Arith::Shr => ("shr", sign),
            Arith::Min => ("min", sign),
            Arith::Max => ("max", sign),
        };
        let mnemonic = format!("{word}.{ty}");
        self.plain(&mnemonic, value, args);
    }
}

/// Prefix of registers, and types of numbers, of signed numbers, and of bits, of each [`Class`].
const CLASSES: [[&str; 4]; 6] = [
    ["%p", "pred", "pred", "pred"],
    ["%r", "u32", "s32", "b32"],
    ["%rd", "u64", "s64", "b64"],
    ["%f", "f32", "f32", "b32"],
    ["%fd", "f64", "f64", "b64"],
    ["%r", "u32", "u32", "b32"],
];

fn prefix(class: Class) -> &'static str {
    CLASSES[class as usize][0]
}

fn class_name(class: Class) -> &'static str {
    CLASSES[class as usize][1]
}

fn signed_name(class: Class) -> &'static str {
    CLASSES[class as usize][2]
}

/// Returns the type of a class's bits.
fn bits(class: Class) -> &'static str {
    CLASSES[class as usize][3]
}
