//! Mistakes of beginners and of people who come from Rust: each has a message of its own, with the right form.

use crate::lex::{self, Kind, Number, Token, one_of};
use crate::message::Message;
use crate::source::Span;
use crate::suggest::distance;
use crate::tree::{Expression, ExpressionKind, Name, StatementKind, UnaryOp, Unroll};

use super::expressions::precedence;
use super::words::{find, foreign_type};
use super::{Failed, Parser, Result};

const INDICES: &str = "threadIdx blockIdx blockDim gridDim";
const QUALIFIERS: &str = "__shared__ __global__ __device__ __constant__ __host__ __forceinline__ __launch_bounds__";

/// Functions of Rust's numbers, and what C++ writes.
const METHODS: &str = "sqrt=sqrtf({}) abs=fabsf({}) exp=expf({}) ln=logf({}) sin=sinf({}) cos=cosf({}) \
    tanh=tanhf({}) floor=floorf({}) ceil=ceilf({}) round=roundf({}) powf=powf({},…) powi=powf({},…) min=min({},…) \
    max=max({},…) mul_add=fmaf({},…,…) count_ones=__popc({}) leading_zeros=__clz({}) to_bits=__float_as_uint({})";

/// Operators that are none of C++, and what is meant.
const OPERATORS: &str = "=> >= =< <= === == !== != := = mod %";

fn plain_name(of: &Expression) -> Option<&Name> {
    match &of.kind {
        ExpressionKind::Name { scope: None, name, arguments: None } => Some(name),
        _ => None,
    }
}

/// Returns the two names of `blockIdx.x`.
fn index_part(of: &Expression) -> Option<(&str, &str)> {
    let ExpressionKind::Member { of, name, .. } = &of.kind else { return None };
    Some((&plain_name(of)?.text, &name.text))
}

/// Returns whether an expression is true or false by its form.
fn is_bool(of: &Expression) -> bool {
    match &of.kind {
        ExpressionKind::Parentheses(of) => is_bool(of),
        ExpressionKind::Bool(_) | ExpressionKind::Unary(UnaryOp::Not, _) => true,
        ExpressionKind::Binary(_, left, right) => match precedence(of) {
            1 | 2 | 6 | 7 => true,
            3..=5 => is_bool(left) && is_bool(right),
            _ => false,
        },
        _ => false,
    }
}

/// Expressions.
impl Parser {
    /// Warns of operands that C++ groups unlike mathematics and Rust do.
    pub(super) fn check_operands(&mut self, op: &Token, level: u8, left: &Expression, right: &Expression) {
        for side in [left, right] {
            if let Some(name) = plain_name(side).filter(|name| one_of(&name.text, INDICES)) {
                let label = format!("help: write `{}.x`", name.text);
                self.error(name.span, format!("`{}` has the parts `x`, `y` and `z`", name.text), label);
            }
        }
        if let (true, Some(left), Some(right)) = (op.is("*"), index_part(left), index_part(right)) {
            let other = if left.0 == "blockIdx" { right } else { left };
            let is_odd = (left.0 == "blockIdx" || right.0 == "blockIdx") && one_of(other.0, "threadIdx gridDim");
            if is_odd && left.1 == right.1 {
                let part = left.1;
                let help = format!("an element's index is `blockIdx.{part} * blockDim.{part} + threadIdx.{part}`");
                let text = format!("`blockIdx.{part}` is multiplied by `{}.{part}`", other.0);
                self.warn(op.span, &text, "different elements get the same index", help);
            }
        }
        let is_comparison = |side: &Expression| matches!(precedence(side), 6 | 7);
        let decimal = |side: &Expression| match &side.kind {
            ExpressionKind::Int { value, is_decimal: true, .. } => Some(*value),
            _ => None,
        };
        match (level, &left.kind) {
            (7, ExpressionKind::Binary(_, _, middle)) if precedence(left) == 7 => {
                let (all, middle, last) = (self.text_of(left), self.text_of(middle), self.text_of(right));
                let help = format!("write `{all} && {middle} {} {last}`", op.text);
                let label = "compares the truth of the first with the last";
                self.warn(left.span.to(right.span), "comparisons do not chain", label, help);
            }
            (3..=5, _) if is_comparison(left) && !is_bool(right) || is_comparison(right) && !is_bool(left) => {
                let span = if is_comparison(right) { right.span } else { left.span };
                let help = "put the operation on bits in parentheses";
                self.warn(span, "the comparison comes before the operator on bits", "compared first", help);
            }
            (4, _) => {
                let help = match (decimal(left), decimal(right)) {
                    (Some(2), Some(bits @ 0..=31)) => format!("2 to the power of {bits} is `1 << {bits}`"),
                    (Some(2 | 10), Some(_)) => "`powf(a, b)` is a power".to_owned(),
                    _ => return,
                };
                self.warn(op.span, "`^` is exclusive or, and not a power", "of bits", help);
            }
            _ => {}
        }
    }

    /// Reports what is wrong with `of.name`, as far as names show it.
    pub(super) fn check_member(&mut self, of: &Expression, name: &Name) {
        if self.is("(") {
            // In Rust values have functions, as in `x.sqrt()`.
            let text = format!("values have no functions of their own, as `{}`", name.text);
            let message = Message::error(name.span, text).label("not a member");
            self.report(match find(METHODS, &name.text) {
                Some(cpp) => {
                    message.help(format!("write `{}`", cpp.replace(',', ", ").replace("{}", &self.text_of(of))))
                }
                None if one_of(&name.text, "len size length") => message
                    .help("an array or a pointer has no length of its own: use the constant it was declared with"),
                None => Message::unsupported(name.span, "a call of a function inside of a struct"),
            });
        }
        let Some(of) = plain_name(of) else { return };
        let is_part = one_of(&name.text, "x y z");
        if one_of(&of.text, INDICES) && !is_part {
            let part = name.text.to_lowercase();
            let part = if one_of(&part, "x y z") { &part } else { "x" };
            let text = format!("`{}` has the parts `x`, `y` and `z`, and no `{}`", of.text, name.text);
            self.error(name.span, text, format!("help: write `{part}`"));
        } else if is_part && !one_of(&of.text, INDICES) && self.meaning(&of.text).is_none() {
            let known = "thread=threadIdx tid=threadIdx threadid=threadIdx block=blockIdx blockid=blockIdx \
                bid=blockIdx blocksize=blockDim grid=gridDim gridsize=gridDim";
            let close = || INDICES.split(' ').find(|index| distance(index, &of.text) <= 2);
            if let Some(meant) = find(known, &of.text.to_lowercase()).or_else(close) {
                self.error(of.span, format!("cannot find `{}`", of.text), format!("help: write `{meant}`"));
            }
        }
    }

    /// Reports an operator behind `left` that is not of C++; where one of C++ is meant, it stands there afterwards.
    pub(super) fn foreign_operator(&mut self, left: &Expression) -> Result<()> {
        let token = self.peek().clone();
        if token.is_any(".. ..=") {
            let message = Message::error(token.span, "ranges are of Rust").label("not an operator");
            return Err(self.report(message.help("a loop over numbers is `for (int k = 0; k < n; ++k)`")));
        }
        if token.is("as") {
            let (ty, _, end) = self.rust_type(self.at + 1, 0);
            let of = self.text_of(left);
            let is_simple = matches!(left.kind, ExpressionKind::Name { .. } | ExpressionKind::Int { .. });
            let of = if is_simple || of.starts_with('(') { of } else { format!("({of})") };
            let span = token.span.to(self.token(end - 1).span);
            self.error(span, "`as` is of Rust", format!("help: write `({ty}){of}`"));
            self.at = end;
            return Ok(());
        }
        let is_macro = token.is("!") && self.next_is("(") && token.span.start == left.span.end;
        if let (true, Some(name)) = (is_macro, plain_name(left)) {
            let text = format!("`{}!` is a macro of Rust", name.text);
            let message = Message::error(left.span.to(token.span), text).label("not of C++");
            let help = match &*name.text {
                "println" | "print" | "eprintln" => "in C++ `printf(\"%d\\n\", x);` prints",
                "assert" | "debug_assert" => "`static_assert(…)` checks constants while compiling",
                _ => return Err(self.report(message)),
            };
            return Err(self.report(message.help(help)));
        }
        let mut pairs = OPERATORS.split(' ');
        let meant = std::iter::from_fn(|| Some((pairs.next()?, pairs.next()?))).find(|pair| token.is(pair.0));
        if let Some((_, meant)) = meant.filter(|_| !(token.is("mod") && self.token(self.at + 1).kind == Kind::Punct)) {
            let text = format!("`{}` is not an operator of C++", token.text);
            self.error(token.span, text, format!("help: write `{meant}`"));
            let token = &mut self.tokens[self.at];
            (token.text, token.kind) = (meant.into(), Kind::Punct);
        }
        Ok(())
    }

    /// Reports `a ** b`, whose first star is taken.
    pub(super) fn power(&mut self, left: &Expression, star: Span) {
        let (of, exponent) = (self.text_of(left), self.token(self.at + 1).text.clone());
        let is_square = *exponent == *"2";
        let help = if is_square { format!("write `{of} * {of}`") } else { format!("write `powf({of}, {exponent})`") };
        let message = Message::error(star.to(self.span()), "C++ has no operator for powers");
        self.report(message.label("not an operator").help(help));
        self.bump();
    }

    /// Returns the text of an expression that ends before the parser's place.
    pub(super) fn text_of(&self, of: &Expression) -> String {
        let back = || (0..self.at).rev();
        let start = back().take_while(|&at| self.token(at).span.start >= of.span.start).last();
        let end = back().find(|&at| self.token(at).span.end <= of.span.end).map_or(self.at, |at| at + 1);
        self.text(start.unwrap_or(self.at), end)
    }

    pub(super) fn help_for_unexpected(&self) -> Option<String> {
        let token = self.peek();
        let before = |n: usize| self.token(self.at.wrapping_sub(n));
        let is_value = before(1).is_any("= (");
        let help = match &*token.text {
            _ if token.kind == Kind::Number && before(2).kind == Kind::Number && before(1).is(",") => {
                let is_group = token.text.len() == 3 && token.text.bytes().all(|byte| byte.is_ascii_digit());
                if is_group { "digits are grouped by `'`, as in `1'000`" } else { "the decimal point is `.`" }
            }
            "==" | ":=" => "`=` gives a variable its value; `==` compares",
            ";" if self.next_is(")") => "the step of a `for` ends at the `)`",
            _ if before(1).is(",") && self.is_type_at(self.at) => "one type serves all names: `int i = 0, j = 1;`",
            "->" => "C++ writes the type of the result before the name: `float f(float x)`",
            "in" => "a loop over numbers is `for (int k = 0; k < n; ++k)`",
            "[" => "C++ writes the values of an array in braces: `{1, 2}`; `{}` is all zeros",
            "if" | "switch" | "while" if is_value => "a statement has no value: write `condition ? a : b`",
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// Declarations.
impl Parser {
    /// Returns the qualifier that the word here is meant to be.
    pub(super) fn misspelt_qualifier(&self) -> Option<&'static str> {
        let token = self.peek();
        let word = token.text.trim_matches('_').to_lowercase();
        let is_plain = word == *token.text;
        let is_known = self.meaning(&token.text).is_some() || self.is_type_name(self.at);
        if is_known || (is_plain && !self.is_type_at(self.at + 1)) {
            return None;
        }
        if word == "kernel" {
            return Some("__global__");
        }
        let limit = if is_plain { 0 } else { 1 + usize::from(word.len() > 7) };
        QUALIFIERS.split(' ').find(|qualifier| distance(qualifier.trim_matches('_'), &word) <= limit)
    }

    /// Reports `float[8] acc`, and skips the brackets.
    pub(super) fn brackets_before_name(&mut self) {
        if !self.is("[") || self.next_is("[") {
            return;
        }
        let (open, span) = (self.at, self.span());
        self.skip_one();
        let label = format!("help: write `{}{}`", self.peek().text, self.text(open, self.at));
        if self.is_any("= :") {
            self.refuse(span, "a declaration of several names by `auto [a, b]`");
        } else if self.is_word() {
            self.error(span, "the size of an array stands behind its name", label);
        }
    }

    /// Reads a type of Rust at `at`: what C++ writes before a name, behind it, and the index of what follows.
    fn rust_type(&self, at: usize, depth: usize) -> (String, String, usize) {
        let token = self.token(at);
        if depth < 4 && token.is_any("& *") {
            let is_mut = self.token(at + 1).is("mut");
            let inner = at + 1 + usize::from(self.token(at + 1).is_any("mut const"));
            let (element, _, end) = self.rust_type(inner, depth + 1);
            return (format!("{}{element}*", if is_mut { "" } else { "const " }), String::new(), end);
        }
        if depth < 4 && token.is("[") {
            let (element, suffix, end) = self.rust_type(at + 1, depth + 1);
            let close = self.partner(at);
            let size = if self.token(end).is(";") { format!("[{}]", self.text(end + 1, close)) } else { String::new() };
            return (element, format!("{size}{suffix}"), close + 1);
        }
        let name = foreign_type(&token.text).unwrap_or_else(|| token.text.to_string());
        (name, String::new(), self.behind_arguments((at + 1).min(self.tokens.len() - 1)))
    }

    /// Returns the index of the end of a statement, from a place inside of it.
    fn end_of_statement(&self, from: usize) -> usize {
        let mut at = from;
        while at + 1 < self.tokens.len() && !self.token(at).is_any("; } )") {
            if at > from && self.token(at).is_first_on_line {
                break;
            }
            at = self.partner(at).max(at) + 1;
        }
        at.min(self.tokens.len() - 1)
    }

    /// Reports `name: type`, whose specifiers begin at `start`.
    pub(super) fn annotated(&mut self, start: usize) -> Failed {
        let name = self.peek().text.clone();
        let (before, behind, end) = self.rust_type(self.at + 2, 0);
        let end = end.min(self.tokens.len() - 1);
        let has_value = self.token(end).is("=");
        let value = if has_value { format!(" {};", self.text(end, self.end_of_statement(end))) } else { String::new() };
        let prefix = if self.token(start).is_any("const static") { "constexpr " } else { "" };
        let span = self.token(start).span.to(self.token(end - 1).span);
        let label = format!("help: write `{prefix}{before} {name}{behind}{value}`");
        self.error(span, "C++ writes the type before the name", label)
    }

    /// Reports an item of Rust or Python, or returns that there is none.
    pub(super) fn rust_item(&mut self) -> Result<bool> {
        let token = self.peek().clone();
        if token.is("let") {
            return self.let_statement().map(|()| true);
        }
        if token.is_any("include define ifdef ifndef pragma") && self.token(self.at + 1).kind != Kind::Punct {
            let label = format!("help: write `#{}`", token.text);
            return Err(self.error(token.span, "a directive begins with `#`", label));
        }
        if token.is("extern") && self.next_is("C") {
            return Err(self.error(
                token.span.to(self.token(self.at + 1).span),
                "`C` needs quotes here",
                "help: write `extern \"C\"`",
            ));
        }
        if self.token(self.at + 1).kind != Kind::Word {
            return Ok(false);
        }
        if token.is_any("use mod impl trait import") {
            let message = Message::error(token.span, format!("`{}` is not of C++", token.text)).label("not an item");
            let help = "CUDA's functions are built in; those of the course come with `#include \"common.cuh\"`";
            return Err(self.report(message.help(help)));
        }
        if token.is_any("fn pub unsafe def function") {
            while !self.is_any("fn def function") && self.token(self.at + 1).kind == Kind::Word {
                self.bump();
            }
            let text = format!("`{}` starts no function in C++", self.peek().text);
            let mut message = Message::error(self.span(), text).label("not a type");
            message.help = self.signature_of_rust().map(|text| format!("write `{text}`"));
            return Err(self.report(message));
        }
        Ok(false)
    }

    /// Returns what C++ writes for the signature of a function of Rust.
    fn signature_of_rust(&self) -> Option<String> {
        let (name, open) = (&self.token(self.at + 1).text, self.at + 2);
        let close = self.partner(open);
        let (mut at, mut parameters) = (open + 1, Vec::new());
        while at < close {
            let parameter = at + usize::from(self.token(at).is("mut"));
            if !self.token(parameter + 1).is(":") {
                return None;
            }
            let (before, behind, end) = self.rust_type(parameter + 2, 0);
            parameters.push(format!("{before} {}{behind}", self.token(parameter).text));
            at = end + 1;
        }
        let has_result = self.token(close + 1).is("->");
        let returns = if has_result { self.rust_type(close + 2, 0).0 } else { "void".to_owned() };
        self.token(open).is("(").then(|| format!("__device__ {returns} {name}({})", parameters.join(", ")))
    }

    /// Reads and reports `let mut x: f32 = 0.0;`.
    fn let_statement(&mut self) -> Result<()> {
        let start = self.bump();
        let is_mut = self.eat("mut");
        let name = self.name()?;
        let (mut before, mut behind, has_type) = ("auto".to_owned(), String::new(), self.eat(":"));
        if has_type {
            (before, behind, self.at) = self.rust_type(self.at, 0);
        }
        let (first, has_value) = (self.at + 1, self.is("="));
        let end = self.end_of_statement(self.at);
        let mut value = if has_value { self.text(first, end) } else { String::new() };
        let number = if end == first + 1 { lex::number(&value).ok() } else { None };
        match number.filter(|_| self.token(first).kind == Kind::Number) {
            Some(Number::Float { .. }) if !has_type || before == "float" => {
                (before, value) = ("float".to_owned(), format!("{}f", value.trim_end_matches('f')));
            }
            Some(Number::Int { .. }) if !has_type => before = "int".to_owned(),
            None if !has_type && (value.contains("Idx.") || value.contains("Dim.")) => before = "int".to_owned(),
            None if !has_type && !has_value => before = "float".to_owned(),
            _ => {}
        }
        let value = match value {
            _ if !has_value => value,
            _ if value.starts_with('[') => " = {}".to_owned(),
            _ => format!(" = {value}"),
        };
        let is_const = if is_mut || !has_value || before.starts_with("const ") { "" } else { "const " };
        let label = format!("help: write `{is_const}{before} {}{behind}{value};`", name.text);
        self.error(start.to(name.span), "`let` is of Rust: C++ declares by the type", label);
        self.declare(&name.text, super::Meaning::Value);
        self.at = end;
        self.eat(";");
        Ok(())
    }
}

/// Statements.
impl Parser {
    /// Reports a statement of Rust or Python; what it stands for is read where that is possible.
    pub(super) fn rust_statement(&mut self) -> Result<Option<StatementKind>> {
        let token = self.peek().clone();
        let (next, third) = (self.token(self.at + 1).clone(), self.token(self.at + 2).clone());
        if token.kind != Kind::Word || self.meaning(&token.text).is_some() {
            return Ok(None);
        }
        let message = Message::error(token.span, format!("`{}` is of Rust", token.text));
        match &*token.text {
            "let" => {
                self.let_statement()?;
                Ok(Some(StatementKind::Empty))
            }
            "unsafe" if next.is("{") => {
                self.report(message.label("help: remove it"));
                self.bump();
                Ok(Some(StatementKind::Block(self.block()?)))
            }
            "loop" if next.is("{") => {
                self.report(message.label("help: write `while (true)`"));
                self.bump();
                self.body_of_rust().map(Some)
            }
            "match" if next.kind == Kind::Word || next.is("(") => {
                let help = "its cases are `case 0: …; break;`, and the last `default: …;`";
                self.report(message.label("help: write `switch (…)`").help(help));
                while !self.is_any("{ ;") && !self.is_end() {
                    self.skip_one();
                }
                self.skip_one();
                Ok(Some(StatementKind::Empty))
            }
            "elif" | "elsif" | "elseif" => {
                Err(self.error(token.span, format!("`{}` is not of C++", token.text), "help: write `else if`"))
            }
            "mut" if next.kind == Kind::Word => Err(self.report(message.label("help: write the type instead"))),
            "fn" | "def" if next.kind == Kind::Word => self.rust_item().map(|_| None),
            _ if next.is(":") && !third.is_first_on_line && third.kind != Kind::End => Err(self.annotated(self.at)),
            _ => Ok(None),
        }
    }

    /// Warns of `for (int j = 0; j < n; ++i)`, whose body at the tokens from `body` does not change `j` either.
    pub(super) fn check_step(&mut self, first: &StatementKind, condition: &Expression, step: &Expression, body: usize) {
        let (StatementKind::Variables(variables), ExpressionKind::Binary(_, left, _)) = (first, &condition.kind) else {
            return;
        };
        let of = match &step.kind {
            ExpressionKind::Step { of, .. } | ExpressionKind::Assign(_, of, _) => of,
            _ => return,
        };
        let (Some(tested), Some(changed)) = (plain_name(left), plain_name(of)) else { return };
        let is_change = |at: usize| {
            let around = [self.token(at - 1), self.token(at + 1)];
            self.token(at).is(&tested.text) && around.iter().any(|token| token.is_any("++ -- = += -= *= /= <<= >>= &"))
        };
        let is_loops = variables.len() == 1 && variables[0].name.text == tested.text;
        if is_loops && changed.text != tested.text && !(body..self.at).any(is_change) {
            let label = format!("help: change `{}`", tested.text);
            let text = format!("the step changes `{}`, and the condition tests `{}`", changed.text, tested.text);
            self.warn(step.span, &text, &label, "");
        }
    }

    fn body_of_rust(&mut self) -> Result<StatementKind> {
        let body = self.inside_loop(Self::boxed)?;
        Ok(StatementKind::For { unroll: Unroll::Unsaid, first: None, condition: None, step: None, body })
    }

    /// Reports `for k in 0..n {`, and reads its body.
    pub(super) fn for_in(&mut self, keyword: &Token) -> Result<Option<StatementKind>> {
        let has_parenthesis = self.is("(");
        let Some(word_in) = (self.at..self.at + 4).find(|&at| self.token(at).is("in")) else { return Ok(None) };
        let name = self.token(word_in - 1).text.clone();
        let end = if has_parenthesis {
            self.partner(self.at)
        } else {
            self.at = word_in;
            while !self.is_any("{ ;") && !self.is_end() {
                self.skip_one();
            }
            self.at
        };
        let head = self.head_of_range(&name, word_in + 1, end);
        let head = head.map_or("such as `for (int k = 0; k < n; ++k)`".to_owned(), |head| format!("write `{head}`"));
        let span = keyword.span.to(self.token(end - 1).span);
        self.report(Message::error(span, "`for … in` is not of C++").label("not a loop of C++").help(head));
        self.at = end + usize::from(has_parenthesis);
        self.eat(":");
        self.declare(&name, super::Meaning::Value);
        self.body_of_rust().map(Some)
    }

    /// Returns the head of the loop that runs over the range in `start..end`, such as `(0..n).step_by(4)`.
    fn head_of_range(&self, name: &str, start: usize, end: usize) -> Option<String> {
        let find = |list: &str, from: usize, to: usize| (from..to).find(|&at| self.token(at).is_any(list));
        let head = |from: &str, less: &str, to: &str, step: &str| {
            let step = if step.is_empty() { format!("++{name}") } else { format!("{name} += {step}") };
            Some(format!("for (int {name} = {from}; {name} {less} {to}; {step})"))
        };
        if self.token(start).is("range") {
            let text = self.text(start + 2, self.partner(start + 1));
            return match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
                [from, to, step] => head(from, "<", to, step),
                [from, to] => head(from, "<", to, ""),
                _ => head("0", "<", &text, ""),
            };
        }
        let is_wrapped = self.token(start).is("(") && find(".. ..=", start, self.partner(start)).is_some();
        let (inner, inner_end) = if is_wrapped { (start + 1, self.partner(start)) } else { (start, end) };
        let dots = find(".. ..=", inner, inner_end)?;
        let (from, to) = (self.text(inner, dots), self.text(dots + 1, inner_end));
        if find("rev", start, end).is_some() {
            return Some(format!("for (int {name} = {to} - 1; {name} >= {from}; --{name})"));
        }
        let step = find("step_by", start, end).map(|at| self.text(at + 2, self.partner(at + 1)));
        head(&from, if self.token(dots).is("..") { "<" } else { "<=" }, &to, &step.unwrap_or_default())
    }
}
