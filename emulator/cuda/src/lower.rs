//! Writes the code of a kernel from its tree, in one walk: types are checked, calls are inlined, templates are bound,
//! loops with known bounds are unrolled and constants folded on the way.
//!
//! Scalars, members and elements of local variables are values. Where that turns out to be impossible (an array is
//! indexed by what is not constant), or a loop was taken for one that it is not, the walk ends with a new choice, and
//! the kernel is written again.

mod call;
mod declare;
mod expression;
mod intrinsic;
mod statement;
mod template;
mod touched;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::message::{Message, Severity};
use crate::source::{Place, Sources, Span};
use crate::ssa::{Block, Class, End, Graph, Num, Object, Op, Space, Value};
use crate::tree::{self, Function, Item, Name, Unit};
use crate::types::{INT, Qualified, Type};

pub(crate) type Result<T, E = Box<Message>> = std::result::Result<T, E>;

/// Instructions of all kernels before what is unused is dropped.
const MAX_VALUES: usize = 200_000;
const MAX_BLOCKS: usize = 12_000;
const MAX_CALL_DEPTH: usize = 48;
const MAX_ATTEMPTS: usize = 64;
/// Expressions, statements, and scalars that are copied, in all attempts together.
const MAX_STEPS: u64 = 2_000_000;
/// Messages on the kernels of a file.
const MAX_ERRORS: usize = 20;

/// Returns whether CUDA has a mathematical function of this name, for `float` or `double`.
fn is_mathematics(name: &str) -> bool {
    const NAMES: &str = "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc exp exp10 \
        exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 \
        logb lrint lround modf nearbyint nextafter norm pow remainder rint round rsqrt scalbn sin sincos sinh sinpi \
        sqrt tan tanh tgamma trunc";
    NAMES.split_whitespace().any(|known| name == known || name.strip_suffix('f') == Some(known))
}

/// A value of any type: its scalars in order.
#[derive(Debug, Clone, PartialEq)]
struct Rvalue {
    ty: Type,
    parts: Vec<Value>,
}

/// Something that has an address, perhaps of a variable without memory.
#[derive(Debug, Clone)]
struct Lvalue {
    address: Value,
    ty: Qualified,
}

#[derive(Debug, Clone)]
enum Binding {
    Variable(Lvalue),
    Constant(Rvalue),
    Type(Qualified),
}

#[derive(Debug, Clone)]
struct Named {
    binding: Binding,
    span: Span,
}

type Scope = HashMap<Rc<str>, Named>;

/// A call that is being inlined, or the kernel.
struct Frame {
    function: Rc<Function>,
    symbol: String,
    scopes: Vec<Scope>,
    returns: Type,
    result: Option<Lvalue>,
    /// The block that `return` goes to.
    exit: Block,
    /// `break` and `continue`, innermost last; a `switch` has no `continue` of its own.
    leave: Vec<(Block, Option<Block>)>,
}

impl Frame {
    /// Begins a function that returns nothing.
    fn new(function: &Rc<Function>, symbol: &str, scopes: Vec<Scope>, exit: Block) -> Self {
        let (function, symbol) = (function.clone(), symbol.to_owned());
        Self { function, symbol, scopes, returns: Type::Void, result: None, exit, leave: Vec::new() }
    }
}

/// The meaning of a scalar access to a local variable.
enum Part {
    Variable(u32, Num),
    /// Behind the variable's end, or before it: NVRTC takes such a value for undefined.
    Outside,
    Memory,
}

/// Findings of an attempt, for the next one.
#[derive(Debug, Default)]
struct Choices {
    in_memory: HashSet<u64>,
    /// Loops that are not unrolled, and loops with variables that they change.
    real: HashSet<u64>,
    changing: HashSet<(u64, u64)>,
}

/// A position in the source, in the call that it is inlined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub place: Place,
    /// The site of the call, and the function's symbol.
    pub call: Option<(u32, u32)>,
}

/// The code of a kernel, and what is needed to write it.
#[derive(Default)]
pub(crate) struct Kernel {
    pub symbol: String,
    pub graph: Graph,
    pub sites: Vec<Site>,
    pub parameters: Vec<Type>,
    pub bounds: Vec<u32>,
}

/// The names of a unit.
#[derive(Default)]
pub(crate) struct Names {
    functions: HashMap<Rc<str>, Vec<Rc<Function>>>,
    variables: HashMap<Rc<str>, tree::Variable>,
    structs: HashMap<Rc<str>, Rc<tree::Struct>>,
    aliases: HashMap<Rc<str>, tree::Alias>,
    /// Errors about names that are declared twice.
    errors: Vec<Message>,
}

pub(crate) struct Lowering<'a> {
    names: &'a Names,
    sources: &'a Sources,
    graph: Graph,
    frames: Vec<Frame>,
    choices: Choices,
    again: bool,
    sites: Vec<Site>,
    site_numbers: crate::map::HashMap<Site, u32>,
    /// Symbols of inlined functions.
    pub symbols: Vec<String>,
    call: Option<(u32, u32)>,
    /// The start of the statement that is being lowered.
    statement: Place,
    here: Place,
    globals: Scope,
    evaluating: Vec<Rc<str>>,
    pub warnings: Vec<Message>,
    steps: u64,
    /// Instructions of the kernels that are complete.
    n_values: usize,
    statics: HashMap<(u64, Rc<str>), u32>,
}

impl Names {
    pub(crate) fn new(unit: &Unit) -> Self {
        let mut names = Self::default();
        for item in &unit.items {
            match item {
                Item::Function(function) => {
                    names.functions.entry(function.name.text.clone()).or_default().push(function.clone());
                }
                Item::Variables(variables) => {
                    for one in variables {
                        let first = names.variables.insert(one.name.text.clone(), one.clone());
                        let first = first.filter(|_| one.storage != tree::Storage::SharedExtern);
                        names.errors.extend(first.map(|first| *twice(&one.name, first.name.span)));
                    }
                }
                Item::Struct(one) => {
                    let first = names.structs.insert(one.name.text.clone(), one.clone());
                    names.errors.extend(first.map(|first| *twice(&one.name, first.name.span)));
                }
                Item::Alias(one) => {
                    names.aliases.insert(one.name.text.clone(), one.clone());
                }
                Item::Assert(_) => {}
            }
        }
        names
    }

    /// Lists the names at file scope, for suggestions.
    fn all(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions.keys().chain(self.variables.keys());
        functions.chain(self.structs.keys()).chain(self.aliases.keys()).map(|name| &**name)
    }
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(names: &'a Names, sources: &'a Sources) -> Self {
        let nowhere = Place { file: 0, line: 1, column: 1 };
        Self {
            names,
            sources,
            graph: Graph::new(),
            frames: Vec::new(),
            choices: Choices::default(),
            again: false,
            sites: Vec::new(),
            site_numbers: Default::default(),
            symbols: Vec::new(),
            call: None,
            statement: nowhere,
            here: nowhere,
            globals: Scope::new(),
            evaluating: Vec::new(),
            warnings: Vec::new(),
            steps: 0,
            n_values: 0,
            statics: HashMap::new(),
        }
    }

    /// Writes all kernels of a unit, and checks its other functions.
    pub(crate) fn unit(&mut self, unit: &Unit) -> Result<Vec<Kernel>, Vec<Message>> {
        let (mut kernels, mut errors) = (Vec::new(), self.names.errors.clone());
        let mut defined = HashSet::new();
        for item in &unit.items {
            if errors.len() >= MAX_ERRORS {
                break;
            }
            match item {
                Item::Assert(assert) => {
                    self.reset();
                    let checked = self.with_scope(Scope::new(), |this| this.assert(assert));
                    errors.extend(checked.err().map(|message| *message));
                }
                Item::Function(function) if function.body.is_some() && !self.is_first(function, &mut defined) => {
                    let text = format!("`{}` is defined twice with the same parameters", function.name.text);
                    errors.push(Message::error(function.name.span, text));
                }
                Item::Function(function) if function.is_kernel && function.body.is_some() => {
                    match self.function(function) {
                        Ok(kernel) => {
                            self.n_values += kernel.graph.values.len();
                            kernels.push(kernel);
                        }
                        Err(message) if !errors.contains(&*message) => errors.push(*message),
                        Err(_) => {}
                    }
                }
                _ => {}
            }
        }
        let (n_warnings, n_symbols) = (self.warnings.len(), self.symbols.len());
        for item in &unit.items {
            let Item::Function(function) = item else { continue };
            let is_complete = function.body.is_some() && function.template.is_empty();
            if function.is_kernel || !is_complete || errors.len() >= MAX_ERRORS {
                continue;
            }
            // What is not known here matters only where a kernel calls it.
            if let Err(message) = self.function(function)
                && message.severity == Severity::Error
                && !errors.iter().any(|known| known.span == message.span)
            {
                errors.push(*message);
            }
        }
        self.warnings.truncate(n_warnings);
        self.symbols.truncate(n_symbols);
        if errors.is_empty() { Ok(kernels) } else { Err(errors) }
    }

    /// Returns whether no other function of these parameters was defined. Templates are not compared.
    fn is_first(&mut self, function: &Function, defined: &mut HashSet<String>) -> bool {
        if !function.template.is_empty() || self.names.functions[&function.name.text].len() < 2 {
            return true;
        }
        self.reset();
        let symbol = self.with_scope(Scope::new(), |this| this.symbol(function, &[], None));
        symbol.map_or(true, |symbol| defined.insert(symbol))
    }

    /// Writes a kernel, or a function as if it were one, as often as needed.
    fn function(&mut self, function: &Rc<Function>) -> Result<Kernel> {
        self.choices = Choices::default();
        let n_warnings = self.warnings.len();
        for _ in 0..MAX_ATTEMPTS {
            self.again = false;
            self.warnings.truncate(n_warnings);
            match self.attempt(function) {
                Ok(mut kernel) if !self.again => {
                    crate::passes::clean(&mut kernel.graph);
                    let kept: Vec<u64> = crate::passes::addressed(&kernel.graph);
                    if kept.is_empty() {
                        return Ok(kernel);
                    }
                    self.choices.in_memory.extend(kept);
                }
                Err(message) if !self.again => return Err(message),
                _ => {}
            }
        }
        unsupported(function.name.span, "a kernel with so many local arrays and loops")
    }

    /// Begins code that belongs to no kernel yet.
    fn reset(&mut self) {
        self.graph = Graph::new();
        self.frames.clear();
        self.globals.clear();
        self.sites.clear();
        self.site_numbers.clear();
        self.statics.clear();
        self.call = None;
    }

    fn attempt(&mut self, function: &Rc<Function>) -> Result<Kernel> {
        self.reset();
        if function.name.text.is_empty() {
            return error(function.span, "a function without a name");
        }
        let symbol = self.symbol(function, &[], None)?;
        let exit = self.graph.block();
        self.frames.push(Frame::new(function, &symbol, vec![Scope::new()], exit));
        if let Some(one) = function.template.first() {
            return unsupported(one.name.span, "a kernel that is a template, and that nothing instantiates,")
                .help("name its arguments in a kernel that is no template and calls it");
        }
        self.returns(function)?;
        self.at_statement(function.name.span);
        let mut bounds = Vec::new();
        for one in &function.launch_bounds {
            bounds.push(self.constant(one)? as u32);
        }
        self.at_statement(function.name.span);
        let mut parameters = Vec::new();
        for (index, parameter) in function.parameters.iter().enumerate() {
            let ty = self.parameter_type(parameter)?;
            let is_reference = matches!(parameter.ty.kind, tree::TypeKind::Reference(_));
            if is_reference && function.is_kernel {
                return error(parameter.ty.span, "a kernel's parameter cannot be a reference")
                    .label("the host's memory is not the GPU's")
                    .help("pass the value, or a pointer to memory of the GPU");
            }
            let number = index as u16;
            if is_reference {
                let op = Op::Param { index: number, offset: 0, num: Num::U64 };
                let place = Lvalue { address: self.graph.make(op, Class::I64, &[]), ty };
                self.bind(&parameter.name, Binding::Variable(place))?;
                continue;
            }
            let parts = ty.ty.parts();
            let Some(parts) = parts else {
                return unsupported(parameter.ty.span, "a parameter as large as this");
            };
            if let Type::Pointer(to) = &ty.ty
                && parameter.is_restrict
            {
                self.graph.restrict.push(number);
                if to.is_const {
                    self.graph.constant.push(number);
                }
            }
            let values = parts.into_iter().map(|(offset, num)| {
                let op = Op::Param { index: number, offset: offset as u32, num };
                self.graph.make(op, num.class(), &[])
            });
            let value = Rvalue { ty: ty.ty.clone(), parts: values.collect() };
            let object = self.local(&parameter.name, ty.clone(), None);
            self.initial(&object, &value);
            self.bind(&parameter.name, Binding::Variable(object))?;
            parameters.push(ty.ty);
        }
        self.body(function)?;
        let body = function.body.as_deref().unwrap_or_default();
        let last = body.last().map_or(function.span, |last| last.span);
        let text = &self.sources.files[usize::from(last.file)].text;
        let brace = text.get(last.end as usize..).and_then(|rest| rest.find('}')).unwrap_or(0) as u32;
        self.at_statement(Span { start: last.end + brace, ..last });
        self.graph.join(exit);
        self.graph.end(End::Return);
        let (graph, sites) = (std::mem::take(&mut self.graph), std::mem::take(&mut self.sites));
        Ok(Kernel { symbol, graph, sites, parameters, bounds })
    }

    /// Makes the variable that `return` sets.
    fn returns(&mut self, function: &Function) -> Result<()> {
        let returns = self.resolve(&function.returns)?.ty;
        if let tree::TypeKind::Reference(_) = function.returns.kind {
            return unsupported(function.returns.span, "a function that returns a reference");
        }
        if returns != Type::Void {
            let name = Name { span: function.returns.span, text: "result".into() };
            self.frame().result = Some(self.local(&name, returns.clone().into(), None));
        }
        self.frame().returns = returns;
        Ok(())
    }

    fn body(&mut self, function: &Function) -> Result<()> {
        self.statements(function.body.as_deref().unwrap_or_default())?;
        let falls_out = self.graph.is_open() && self.graph.is_reached(self.graph.current);
        if falls_out && self.frame().result.is_some() {
            let text = format!("`{}` can end without returning a value", function.name.text);
            let label = format!("it returns `{}`", self.frame().returns);
            self.warn(Message::warning(function.name.span, text).label(label).help("add a `return` at its end"));
        }
        Ok(())
    }

    /// Adds a warning, once for all calls and rounds of a loop.
    fn warn(&mut self, message: Message) {
        if !self.warnings.contains(&message) {
            self.warnings.push(message);
        }
    }

    // Places.

    /// Counts the work, and refuses too much.
    fn step(&mut self, span: Span) -> Result<()> {
        self.steps += 1;
        let n_values = self.n_values + self.graph.values.len();
        if self.steps > MAX_STEPS || n_values > MAX_VALUES || self.graph.blocks.len() > MAX_BLOCKS {
            let text = "a kernel of so many instructions, once its loops are unrolled and its calls inlined,";
            return unsupported(span, text).help("write `#pragma unroll 1` before the loop that repeats most");
        }
        Ok(())
    }

    fn set_place(&mut self, place: Place) {
        self.here = place;
        let site = Site { place, call: self.call };
        let next = self.sites.len() as u32;
        let number = *self.site_numbers.entry(site).or_insert(next);
        if number == next {
            self.sites.push(site);
        }
        self.graph.place = number;
    }

    /// Moves to a statement. One that begins in the line of the statement around it has that one's column.
    fn at_statement(&mut self, span: Span) {
        let place = self.sources.place(span);
        if (place.file, place.line) != (self.statement.file, self.statement.line) {
            self.statement = place;
        }
        self.set_place(self.statement);
    }

    fn at_step(&mut self, span: Span) {
        self.set_place(self.sources.place(span));
    }

    /// Moves to an expression where it stands in another line than what was lowered before.
    fn at(&mut self, span: Span) {
        let mut place = self.sources.place(span);
        if (place.file, place.line) != (self.here.file, self.here.line) {
            if (place.file, place.line) == (self.statement.file, self.statement.line) {
                place = self.statement;
            }
            self.set_place(place);
        }
    }

    /// A number for a place in the source, in the calls around it: the same in each attempt.
    fn key(&self, span: Span) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = std::hash::DefaultHasher::new();
        let mut call = self.call;
        while let Some((site, _)) = call {
            let site = self.sites[site as usize];
            site.place.hash(&mut hasher);
            call = site.call;
        }
        span.hash(&mut hasher);
        hasher.finish()
    }

    // Names.

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is being lowered")
    }

    fn bind(&mut self, name: &Name, binding: Binding) -> Result<()> {
        if name.text.is_empty() {
            return Ok(());
        }
        let named = Named { binding, span: name.span };
        let scope = self.frame().scopes.last_mut().expect("a function has a scope");
        scope.insert(name.text.clone(), named).map_or(Ok(()), |first| Err(twice(name, first.span)))
    }

    fn find(&mut self, name: &str) -> Result<Option<Binding>> {
        if let Some(frame) = self.frames.last()
            && let Some(found) = frame.scopes.iter().rev().find_map(|scope| scope.get(name))
        {
            return Ok(Some(found.binding.clone()));
        }
        self.global(name)
    }

    fn unknown(&self, name: &Name) -> Box<Message> {
        let scopes = self.frames.last().map_or(&[][..], |frame| &frame.scopes);
        let locals = scopes.iter().flat_map(|scope| scope.keys()).map(|name| name.to_string());
        let others = self.names.all().map(str::to_owned).chain(intrinsic::names().map(str::to_owned));
        let known: Vec<String> = locals.chain(others).collect();
        let known = known.iter().map(String::as_str);
        let message = Message::error(name.span, format!("cannot find `{}` in this scope", name.text));
        let nearest = crate::suggest::suggest(&name.text, known);
        // CUDA has more functions with such names than are known here.
        let is_close = nearest.as_ref().is_some_and(|near| crate::suggest::distance(near, &name.text) <= 1);
        let is_cuda = name.text.starts_with("__") && !is_close || is_mathematics(&name.text);
        if is_cuda {
            return Message::unsupported(name.span, format!("`{}`", name.text)).into();
        }
        match nearest {
            Some(near) => message.label(format!("did you mean `{near}`?")).help(format!("write `{near}`")).into(),
            None => message.label("nothing of this name is declared here").into(),
        }
    }

    // Variables.

    /// Makes a local variable, of values where its parts can be.
    fn local(&mut self, name: &Name, ty: Qualified, align: Option<u64>) -> Lvalue {
        let key = self.key(name.span);
        let parts = if self.choices.in_memory.contains(&key) || ty.is_volatile { None } else { ty.ty.parts() };
        let parts = parts.map(|parts| {
            let with_variable = |(offset, num): (u64, Num)| (offset, num, self.graph.variable(num.class()));
            parts.into_iter().map(with_variable).collect()
        });
        let object = Object {
            name: name.text.to_string(),
            space: Space::Local,
            bytes: ty.ty.bytes(),
            align: align.unwrap_or(1).max(ty.ty.align()),
            initial: None,
            is_constexpr: false,
            is_extern: false,
            parts,
            key,
        };
        self.object(object, ty)
    }

    fn object(&mut self, object: Object, ty: Qualified) -> Lvalue {
        self.graph.objects.push(object);
        let number = self.graph.objects.len() as u32 - 1;
        Lvalue { address: self.graph.make(Op::Address(number), Class::I64, &[]), ty }
    }

    /// Puts a value that has no name where it has an address.
    fn temporary(&mut self, value: &Rvalue, span: Span) -> Lvalue {
        let object = self.local(&Name { span, text: "temporary".into() }, value.ty.clone().into(), None);
        self.initial(&object, value);
        object
    }

    /// Stores a value of the same type, also to a constant.
    fn initial(&mut self, to: &Lvalue, value: &Rvalue) {
        let parts = to.ty.ty.parts().unwrap_or_default();
        self.steps += parts.len() as u64;
        for ((offset, num), &part) in parts.into_iter().zip(&value.parts) {
            let address = self.offset(to.address, offset);
            self.store_scalar(address, num, part, to.ty.is_volatile, aligned(&to.ty.ty, offset, num));
        }
    }

    fn read(&mut self, from: &Lvalue, span: Span) -> Result<Rvalue> {
        if let Type::Array(of, _) = &from.ty.ty {
            let mut element = (**of).clone();
            element.is_const |= from.ty.is_const;
            element.is_volatile |= from.ty.is_volatile;
            return Ok(Rvalue { ty: Type::pointer(element), parts: vec![from.address] });
        }
        let Some(parts) = from.ty.ty.parts() else {
            return unsupported(span, format!("a value of `{}`", from.ty));
        };
        self.steps += parts.len() as u64;
        let values = parts.into_iter().map(|(offset, num)| {
            let address = self.offset(from.address, offset);
            self.load_scalar(address, num, from.ty.is_volatile, aligned(&from.ty.ty, offset, num))
        });
        Ok(Rvalue { ty: from.ty.ty.clone(), parts: values.collect() })
    }

    fn offset(&mut self, address: Value, offset: u64) -> Value {
        let offset = self.graph.bits(Class::I64, offset);
        self.graph.make(Op::Arith(crate::ssa::Arith::Add, true), Class::I64, &[address, offset])
    }

    /// Returns what an address is of, when it is that of a variable without memory.
    fn part(&mut self, address: Value, num: Num) -> Part {
        let (base, offset) = self.graph.split(address);
        let Some(number) = self.graph.object_of(address) else { return Part::Memory };
        let object = &self.graph.objects[number as usize];
        let Some(parts) = &object.parts else { return Part::Memory };
        if self.graph.op(base) == Op::Address(number) {
            if let Ok(at) = parts.binary_search_by_key(&offset, |&(at, ..)| at as i64)
                && parts[at].1.bytes() == num.bytes()
            {
                let (_, num, variable) = parts[at];
                return Part::Variable(variable, num);
            }
            if offset < 0 || offset >= object.bytes as i64 {
                return Part::Outside;
            }
        }
        let key = object.key;
        self.choices.in_memory.insert(key);
        self.again = true;
        self.graph.objects[number as usize].parts = None;
        Part::Memory
    }

    fn load_scalar(&mut self, address: Value, num: Num, is_volatile: bool, align: u8) -> Value {
        match self.part(address, num) {
            Part::Variable(variable, held) => {
                let value = self.graph.read(variable);
                return self.reinterpreted(value, held, num);
            }
            Part::Outside => return self.graph.undefined(num.class()),
            Part::Memory => {}
        }
        let (base, offset) = self.graph.split(address);
        if let Op::Address(object) = self.graph.op(base)
            && let Some(bytes) = &self.graph.objects[object as usize].initial
            && let Some(bytes) = usize::try_from(offset).ok().and_then(|at| bytes.get(at..at + num.bytes() as usize))
            && self.graph.objects[object as usize].is_constexpr
        {
            let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            let unsigned = [Num::U8, Num::U16, Num::U32, Num::U64][num.bytes().trailing_zeros() as usize];
            let bits = if num.is_float() { Some(bits) } else { crate::ssa::convert(unsigned, num, bits) };
            if let Some(bits) = bits {
                return self.graph.bits(num.class(), bits);
            }
        }
        self.graph.load(address, num, is_volatile, align)
    }

    fn store_scalar(&mut self, address: Value, num: Num, value: Value, is_volatile: bool, align: u8) {
        match self.part(address, num) {
            Part::Variable(variable, held) => {
                let value = self.reinterpreted(value, num, held);
                return self.graph.write(variable, value);
            }
            Part::Outside => return,
            Part::Memory => {}
        }
        if self.graph.object_of(address).is_some_and(|to| self.graph.objects[to as usize].space == Space::Const) {
            // Nothing can be stored there: NVRTC stops the thread.
            self.graph.effect(Op::Effect { name: "trap", touches_memory: true }, Class::None, &[]);
            return;
        }
        self.graph.store(address, num, value, is_volatile, align);
    }

    /// Returns the value that the same bytes have as another type of the same size.
    fn reinterpreted(&mut self, value: Value, from: Num, to: Num) -> Value {
        if from == to {
            value
        } else if from.is_float() || to.is_float() {
            self.graph.make(Op::Bits, to.class(), &[value])
        } else {
            self.converted(value, from, to)
        }
    }

    fn converted(&mut self, value: Value, from: Num, to: Num) -> Value {
        let (from, to) = (from.held(), to.held());
        if to.bytes() < 4 && from == to {
            return value;
        }
        // Registers have small integers extended to 32 bits.
        let from = match from {
            Num::S8 | Num::S16 => Num::S32,
            Num::U8 | Num::U16 => Num::U32,
            from => from,
        };
        let is_same = from.class() == to.class() && to.bytes() >= 4 && !to.is_float() && to != Num::Bool;
        if from == to || is_same {
            return value;
        }
        if to == Num::Bool {
            let zero = self.graph.bits(from.class(), 0);
            let op = Op::Compare(crate::ssa::Compare::Ne, from.is_signed());
            return self.graph.make(op, Class::Pred, &[value, zero]);
        }
        // From 64 bits to fewer than 32: what counts are the lowest.
        let (value, from) = match (from, to.bytes()) {
            (Num::S64 | Num::U64, 1 | 2) => (self.converted(value, from, Num::S32), Num::S32),
            (Num::F32 | Num::F64, 1 | 2) => {
                let wide = if to.is_signed() { Num::S32 } else { Num::U32 };
                (self.converted(value, from, wide), wide)
            }
            _ => (value, from),
        };
        self.graph.make(Op::Convert(from, to), to.class(), &[value])
    }

    fn int_value(&mut self, value: i64) -> Rvalue {
        Rvalue { ty: INT, parts: vec![self.graph.int(Class::I32, value)] }
    }
}

fn error<T>(span: Span, text: impl Into<String>) -> Result<T> {
    Err(Message::error(span, text).into())
}

fn unsupported<T>(span: Span, text: impl Into<String>) -> Result<T> {
    Err(Message::unsupported(span, text).into())
}

/// More words for the message of an error.
trait Explained {
    fn label(self, text: impl Into<String>) -> Self;
    fn help(self, text: impl Into<String>) -> Self;
    fn note(self, span: Span, text: impl Into<String>) -> Self;
}

impl<T> Explained for Result<T> {
    fn label(self, text: impl Into<String>) -> Self {
        self.map_err(|message| message.label(text).into())
    }

    fn help(self, text: impl Into<String>) -> Self {
        self.map_err(|message| message.help(text).into())
    }

    fn note(self, span: Span, text: impl Into<String>) -> Self {
        self.map_err(|message| message.note(span, text).into())
    }
}

fn twice(name: &Name, first: Span) -> Box<Message> {
    let text = format!("`{}` is declared twice in the same scope", name.text);
    Message::error(name.span, text).note(first, "the first one is here").into()
}

/// Returns the alignment of a part of a variable of this type.
fn aligned(ty: &Type, offset: u64, num: Num) -> u8 {
    let zeros = (ty.align().max(1) | offset).trailing_zeros();
    (1u64 << zeros.min(4)).max(num.bytes()) as u8
}
