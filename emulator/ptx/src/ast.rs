//! The tree of a PTX module.
//!
//! The tree keeps names, order and modifiers as written. The crate that executes an instruction defines its effect.

use crate::span::Span;

/// Declares an enumeration of words of PTX.
macro_rules! named {
    ($(#[$outer:meta])* $type:ident { $($(#[$inner:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$inner])* $variant,)*
        }

        impl $type {
            /// Looks a value up by its name in PTX, without the dot.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$variant,)*
                    _ => return None,
                })
            }

            /// Returns the name in PTX, without the dot.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// `.version 8.4` is `(8, 4)`.
    pub version: (u32, u32),
    /// `.target sm_75, debug` is `["sm_75", "debug"]`.
    pub target: Vec<String>,
    /// `.address_size`: 64, or 32 when a module declares it (refused later).
    pub address_size: u32,
    /// `.file` directives, in order.
    pub files: Vec<SourceFile>,
    /// Module-scope variables and functions, in order.
    pub items: Vec<Item>,
}

/// A source file, such as `.file 1 "v01_naive.cu"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The number by which `.loc` names it.
    pub index: u32,
    pub path: String,
}

/// A declaration outside of functions.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// `.global`, `.const` or `.shared` variable.
    Variable(Variable),
    /// A kernel (`.entry`) or a device function (`.func`).
    Function(Function),
    /// Another name for a function: `.alias name, target;`.
    Alias { span: Span, name: String, target: String },
    /// The strings of a `.pragma "…";`.
    Pragma(Span, Vec<String>),
    /// `.section …` (debug data), kept as text and ignored by execution.
    Section(Span, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Linkage {
    /// No directive: private to the module.
    #[default]
    Internal,
    /// `.visible`: other modules may use it.
    Visible,
    /// `.extern`: another module defines it.
    Extern,
    /// `.weak`: another definition may replace it.
    Weak,
    /// `.common`: of several definitions, the largest is used.
    Common,
}

named! {
    Space {
        Reg "reg",
        /// `.sreg`: special registers, such as `%tid.x`.
        Sreg "sreg",
        Const "const",
        Global "global",
        Local "local",
        Param "param",
        Shared "shared",
        /// `.tex`: texture memory (deprecated).
        Tex "tex",
    }
}

named! {
    /// A fundamental or opaque type.
    Type {
        B8 "b8", B16 "b16", B32 "b32", B64 "b64", B128 "b128", U8 "u8", U16 "u16", U32 "u32", U64 "u64",
        S8 "s8", S16 "s16", S32 "s32", S64 "s64", F16 "f16", F16x2 "f16x2", Bf16 "bf16", Bf16x2 "bf16x2",
        F32 "f32", F64 "f64", Pred "pred", TexRef "texref", SamplerRef "samplerref", SurfRef "surfref",
    }
}

/// A variable: module scope, function scope, or a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub span: Span,
    pub linkage: Linkage,
    pub space: Space,
    /// `.align`, in bytes, when written.
    pub align: Option<u32>,
    /// 1, or 2 / 4 for `.v2` / `.v4`.
    pub vector: u32,
    pub ty: Type,
    pub name: String,
    /// `[4][8]` is `[Some(4), Some(8)]`; `[]` is `[None]`; a scalar is empty.
    pub dims: Vec<Option<u64>>,
    pub init: Option<Initializer>,
    /// `.ptr .global .align 16` on kernel parameters.
    pub ptr: Option<PtrAttribute>,
    /// Attributes as written: `.attribute(.managed)` is `["managed"]`.
    pub attributes: Vec<String>,
}

/// `.ptr{.space}{.align N}` of a kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtrAttribute {
    /// State space of the pointee, when written.
    pub space: Option<Space>,
    /// Alignment of the pointee, when written.
    pub align: Option<u32>,
}

/// The value of a variable at its declaration, or an element of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Initializer {
    /// `{ a, b, { c } }`
    List(Vec<Initializer>),
    /// An integer (two's complement in 64 bits).
    Int(i128),
    /// A float, as the bits of an `f64` or, for `0f…`, as written.
    Float(Immediate),
    /// The address of a variable or function: `name`, `name+4`, `generic(name)+4`.
    Symbol {
        name: String,
        offset: i64,
        /// Whether it is a generic address, written `generic(…)`.
        generic: bool,
    },
    /// `mask(byte) value` forms are kept as text and refused later.
    Other(String),
}

/// `.reg .b32 %r<5>;` or `.reg .pred p, q;`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegDecl {
    pub span: Span,
    /// 1, or 2 / 4 for `.v2` / `.v4`.
    pub vector: u32,
    pub ty: Type,
    /// Names; a count means `name0 .. name(count-1)`.
    pub names: Vec<(String, Option<u32>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`: can be launched.
    Entry,
    /// `.func`: can be called.
    Func,
}

/// `.entry` or `.func`, with or without a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub span: Span,
    pub linkage: Linkage,
    pub kind: FunctionKind,
    pub name: String,
    pub returns: Vec<Variable>,
    pub params: Vec<Variable>,
    /// Whether it is declared `.noreturn`: calls do not come back.
    pub noreturn: bool,
    /// `.attribute(.unified(1, 2))` is `["unified(1, 2)"]`.
    pub attributes: Vec<String>,
    /// `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg`, … with their numbers, in order.
    pub directives: Vec<(String, Vec<u32>)>,
    /// `None` for a declaration.
    pub body: Option<Vec<Statement>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// A label, such as `$L__BB0_2:`.
    Label(Span, String),
    Instruction(Instruction),
    Reg(RegDecl),
    /// `.shared`, `.local`, `.param`, `.global` or `.const` variable at function scope.
    Variable(Variable),
    /// Statements in braces, which are a scope: `{ … }`.
    Block(Vec<Statement>),
    /// `.loc file line column {, function_name label, inlined_at file line column}`
    Loc(Loc),
    /// The strings of a `.pragma`, such as `"nounroll"`.
    Pragma(Span, Vec<String>),
    /// `L: .branchtargets a, b, c;`
    BranchTargets {
        span: Span,
        name: String,
        /// Labels that an indirect branch may go to.
        targets: Vec<String>,
    },
    /// `L: .calltargets f, g;`
    CallTargets {
        span: Span,
        name: String,
        /// Functions that an indirect call may reach.
        targets: Vec<String>,
    },
    /// `L: .callprototype (…) _ (…);`
    CallPrototype {
        span: Span,
        name: String,
        returns: Vec<Variable>,
        params: Vec<Variable>,
    },
}

/// Position in the source that the PTX was compiled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loc {
    pub file: u32,
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
    /// Call where the surrounding function was inlined.
    pub inlined_at: Option<InlinedAt>,
}

/// The tail of a `.loc`: `function_name $L__info_string0 {+ n}, inlined_at 1 14 9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedAt {
    /// The label that holds the inlined function's name.
    pub function: String,
    /// Byte offset from that label.
    pub function_offset: i64,
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// A guard in front of an instruction: `@%p` or `@!%p`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    pub register: String,
    /// Whether it is written with `!`: executed where the predicate is false.
    pub negated: bool,
}

/// `@%p1 fma.rn.ftz.f32 %f4, %f1, %f2, %f3;`
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    pub span: Span,
    pub guard: Option<Guard>,
    /// The first part of the mnemonic, such as `fma`.
    pub opcode: String,
    /// `["rn", "ftz", "f32"]`. `.shared::cta` is `"shared::cta"`.
    pub modifiers: Vec<String>,
    /// Destination first, as written.
    pub operands: Vec<Operand>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A name, resolved where scopes are known: of a register, a label, a variable or a function. `_` is `"_"`.
    Name(String),
    /// `-%f1` does not exist in PTX, but `!%p1` does.
    NotPred(String),
    Immediate(Immediate),
    /// `[name]`, `[name+4]`, `[%rd1+-8]`, `[4096]`.
    Address {
        /// Register or variable; `None` for an absolute address.
        base: Option<String>,
        offset: i64,
    },
    /// `name+4` as a value (`mov.u64 %rd1, table+8;`).
    NameOffset {
        name: String,
        offset: i64,
    },
    /// `{%f1, %f2, _, 0}`
    Vector(Vec<Operand>),
    /// Two destinations: `%r1|%p1`.
    Pair(Box<Operand>, Box<Operand>),
    /// `(a, b)`: the argument lists of `call`.
    List(Vec<Operand>),
    /// `[tex, {x, y}]` of texture fetches; the first may be followed by a sampler.
    Texture {
        /// The texture, then a sampler if written.
        handles: Vec<Operand>,
        /// Coordinates, one operand per dimension.
        coordinates: Vec<Operand>,
    },
    /// `%v.x`, a component of a vector register.
    Component(String, char),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Immediate {
    /// Integer, signed or unsigned, in two's complement when it is cut to its type; character constants too.
    Int(i128),
    /// `0f3F800000`: the bits of an `f32`.
    F32(u32),
    /// `0d3FF0000000000000`, or a decimal such as `1.5`: the bits of an `f64`.
    F64(u64),
}

impl Instruction {
    /// Returns the opcode with all modifiers, as written: `fma.rn.ftz.f32`.
    pub fn mnemonic(&self) -> String {
        let mut text = self.opcode.clone();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }

    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|m| m == modifier)
    }

    /// Returns the value of the first of these modifiers that the instruction has.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|(modifier, _)| self.has(modifier)).map(|&(_, chosen)| chosen)
    }

    /// Returns the types among the modifiers, in order: `cvt.f32.u32` gives `[F32, U32]`.
    pub fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.modifiers.iter().filter_map(|m| Type::from_name(m))
    }
}

impl Type {
    /// Returns the size in memory; a predicate has none.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Pred => 0,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::TexRef | Type::SamplerRef | Type::SurfRef => 8,
            Type::B128 => 16,
        }
    }
}
