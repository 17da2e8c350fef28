//! The tree of a source: names are not resolved, types of expressions are not known, templates are not instantiated.

use std::rc::Rc;

use crate::source::Span;
pub use crate::ssa::{Arith, Compare};

/// A source with its headers, in order.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    pub items: Vec<Item>,
}

#[derive(Debug, Clone)]
pub enum Item {
    Function(Rc<Function>),
    /// Variables at file scope: `constexpr int BM = 64, BN = 64;`, `__constant__ float w[9];`.
    Variables(Vec<Variable>),
    Struct(Rc<Struct>),
    Alias(Alias),
    Assert(Assert),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub span: Span,
    pub text: Rc<str>,
}

/// `template <typename T, int BLOCK = 16>`
#[derive(Debug, Clone)]
pub struct TemplateParameter {
    pub name: Name,
    pub kind: TemplateParameterKind,
}

#[derive(Debug, Clone)]
pub enum TemplateParameterKind {
    Type { default: Option<TypeName> },
    Value { ty: TypeName, default: Option<Expression> },
}

/// A definition, or a declaration without a body.
#[derive(Debug, Clone)]
pub struct Function {
    pub span: Span,
    pub name: Name,
    pub is_kernel: bool,
    pub is_extern_c: bool,
    /// `__device__`. A function with neither this nor [`Self::is_kernel`] is the host's unless it is `constexpr`.
    pub is_device: bool,
    pub is_constexpr: bool,
    pub template: Vec<TemplateParameter>,
    /// `__launch_bounds__(threads, blocks)`: one to three expressions.
    pub launch_bounds: Vec<Expression>,
    pub returns: TypeName,
    pub parameters: Vec<Parameter>,
    pub body: Option<Vec<Statement>>,
}

#[derive(Debug, Clone)]
pub struct Parameter {
    pub ty: TypeName,
    /// Empty where the declaration has none.
    pub name: Name,
    pub is_restrict: bool,
    pub default: Option<Expression>,
}

#[derive(Debug, Clone)]
pub struct Struct {
    pub span: Span,
    pub name: Name,
    pub template: Vec<TemplateParameter>,
    /// `__align__(16)` or `alignas(16)`
    pub align: Option<Expression>,
    pub fields: Vec<Variable>,
    /// Constants and functions in it are refused where they are not `static constexpr`.
    pub constants: Vec<Variable>,
}

/// `using Name = type;` or `typedef type Name;`
#[derive(Debug, Clone)]
pub struct Alias {
    pub name: Name,
    pub ty: TypeName,
}

#[derive(Debug, Clone)]
pub struct Assert {
    pub span: Span,
    pub condition: Expression,
    pub text: Option<String>,
}

/// A type as written, after declarators are folded in: `const float (&x)[4]` is a reference to an array.
#[derive(Debug, Clone)]
pub struct TypeName {
    pub span: Span,
    pub kind: TypeKind,
    pub is_const: bool,
    pub is_volatile: bool,
}

#[derive(Debug, Clone)]
pub enum TypeKind {
    Void,
    Auto,
    Bool,
    Char,
    /// `signed char` to `unsigned long long`, `size_t` and the names of `<cstdint>`: `bits` are 8, 16, 32 or 64.
    Int {
        bits: u8,
        is_signed: bool,
        is_long_long: bool,
    },
    Float,
    Double,
    /// A name, of a struct, a vector type such as `float4`, an alias or a template's parameter, and its arguments.
    Named {
        name: Name,
        arguments: Vec<TemplateArgument>,
    },
    Pointer(Box<TypeName>),
    Reference(Box<TypeName>),
    /// `None`: as many as the initializer has, or as the launch gives (`extern __shared__`).
    Array(Box<TypeName>, Option<Box<Expression>>),
    /// `decltype(e)`
    Decltype(Box<Expression>),
}

/// Both where the text can be a type and an expression: a plain name is a type here.
#[derive(Debug, Clone)]
pub enum TemplateArgument {
    Type(TypeName),
    Value(Expression),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Storage {
    /// A local variable, or at file scope one of the host.
    #[default]
    None,
    Shared,
    /// `extern __shared__`
    SharedExtern,
    Constant,
    Device,
    Static,
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub span: Span,
    pub name: Name,
    pub ty: TypeName,
    pub storage: Storage,
    pub is_constexpr: bool,
    /// `__align__(16)` or `alignas(16)`
    pub align: Option<Expression>,
    pub value: Option<Initializer>,
}

#[derive(Debug, Clone)]
pub enum Initializer {
    /// `= e`
    Expression(Expression),
    /// `= {a, {b, c}}`, `{}`
    List(Span, Vec<Initializer>),
    /// `dim3 d(1, 2)`
    Arguments(Span, Vec<Expression>),
}

#[derive(Debug, Clone)]
pub struct Statement {
    pub span: Span,
    pub kind: StatementKind,
}

#[derive(Debug, Clone)]
pub enum StatementKind {
    Empty,
    Expression(Expression),
    Variables(Vec<Variable>),
    Alias(Alias),
    Assert(Assert),
    Block(Vec<Statement>),
    If {
        is_constexpr: bool,
        first: Option<Box<Statement>>,
        condition: Expression,
        then: Box<Statement>,
        otherwise: Option<Box<Statement>>,
    },
    /// `for`, `while` (no `first`, no `step`).
    For {
        unroll: Unroll,
        first: Option<Box<Statement>>,
        condition: Option<Expression>,
        step: Option<Expression>,
        body: Box<Statement>,
    },
    DoWhile {
        unroll: Unroll,
        body: Box<Statement>,
        condition: Expression,
    },
    Switch {
        on: Expression,
        body: Vec<Statement>,
    },
    /// `case e:`; inside the body of a `switch`.
    Case(Expression),
    Default,
    Break,
    Continue,
    Return(Option<Initializer>),
    /// `asm`, whose operands are not read.
    Asm,
}

/// `#pragma unroll` before a loop.
#[derive(Debug, Clone, Default)]
pub enum Unroll {
    #[default]
    Unsaid,
    /// `#pragma unroll`
    Full,
    /// `#pragma unroll 4`
    By(Box<Expression>),
}

#[derive(Debug, Clone)]
pub struct Expression {
    pub span: Span,
    pub kind: ExpressionKind,
}

#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// `suffix` in lower case: `u`, `ll`, ….
    Int {
        value: u64,
        suffix: Rc<str>,
        is_decimal: bool,
    },
    Float {
        value: f64,
        is_float: bool,
    },
    Char(u8),
    Bool(bool),
    Str(Rc<str>),
    Nullptr,
    /// `name`, `Plan<64>::BM` (`scope` then has the type before `::`), `gemm<float, 16>`.
    Name {
        scope: Option<Box<TypeName>>,
        name: Name,
        arguments: Option<Vec<TemplateArgument>>,
    },
    Unary(UnaryOp, Box<Expression>),
    Binary(BinaryOp, Box<Expression>, Box<Expression>),
    /// `a = b`, or `a += b` with an operator.
    Assign(Option<BinaryOp>, Box<Expression>, Box<Expression>),
    /// `++i`, `i--`
    Step {
        is_increment: bool,
        is_prefix: bool,
        of: Box<Expression>,
    },
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    Comma(Box<Expression>, Box<Expression>),
    Call(Box<Expression>, Vec<Expression>),
    Subscript(Box<Expression>, Box<Expression>),
    /// `a.x`, `a->x`
    Member {
        of: Box<Expression>,
        is_arrow: bool,
        name: Name,
    },
    /// `(T)e`, `static_cast<T>(e)`, `reinterpret_cast<T>(e)`, `const_cast<T>(e)`
    Cast(CastKind, TypeName, Box<Expression>),
    /// `T(a)`, `T{a, b}`, `T()`
    Construct(TypeName, Vec<Initializer>),
    SizeofType(TypeName),
    Sizeof(Box<Expression>),
    Alignof(TypeName),
    Parentheses(Box<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastKind {
    C,
    Static,
    Reinterpret,
    Const,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Minus,
    Plus,
    Not,
    BitNot,
    Address,
    Deref,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Arith(Arith),
    Compare(Compare),
    LogicalAnd,
    LogicalOr,
}

/// Binary operators with their precedence.
pub(crate) const BINARY: [(&str, u8, BinaryOp); 18] = [
    ("||", 1, BinaryOp::LogicalOr),
    ("&&", 2, BinaryOp::LogicalAnd),
    ("|", 3, BinaryOp::Arith(Arith::Or)),
    ("^", 4, BinaryOp::Arith(Arith::Xor)),
    ("&", 5, BinaryOp::Arith(Arith::And)),
    ("==", 6, BinaryOp::Compare(Compare::Eq)),
    ("!=", 6, BinaryOp::Compare(Compare::Ne)),
    ("<", 7, BinaryOp::Compare(Compare::Lt)),
    (">", 7, BinaryOp::Compare(Compare::Gt)),
    ("<=", 7, BinaryOp::Compare(Compare::Le)),
    (">=", 7, BinaryOp::Compare(Compare::Ge)),
    ("<<", 8, BinaryOp::Arith(Arith::Shl)),
    (">>", 8, BinaryOp::Arith(Arith::Shr)),
    ("+", 9, BinaryOp::Arith(Arith::Add)),
    ("-", 9, BinaryOp::Arith(Arith::Sub)),
    ("*", 10, BinaryOp::Arith(Arith::Mul)),
    ("/", 10, BinaryOp::Arith(Arith::Div)),
    ("%", 10, BinaryOp::Arith(Arith::Rem)),
];

impl BinaryOp {
    pub(crate) fn sign(self) -> &'static str {
        BINARY.iter().find(|row| row.2 == self).map_or("", |row| row.0)
    }
}
