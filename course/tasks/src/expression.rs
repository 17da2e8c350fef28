//! Expressions in files: `+ - * / %`, parentheses, `ceil_div(a, b)`, `min(a, b)`, `max(a, b)`, and names.
//!
//! Integer expressions follow C, so `/` truncates; floating-point `/` divides.

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    /// Quotient, rounded up.
    CeilDivide,
}

/// Number type of an expression.
pub trait Arithmetic: Copy + PartialOrd + Default {
    /// Parses a literal. The error completes the sentence "`word` is …".
    fn read(word: &str) -> Result<Self, &'static str>;
    /// Returns the result; `None` on overflow. Divisors are never 0.
    fn compute(operation: Operation, a: Self, b: Self) -> Option<Self>;
}

impl Arithmetic for i64 {
    fn read(word: &str) -> Result<Self, &'static str> {
        word.parse().map_err(|_| "not a whole number")
    }

    fn compute(operation: Operation, a: Self, b: Self) -> Option<Self> {
        match operation {
            Operation::Add => a.checked_add(b),
            Operation::Subtract => a.checked_sub(b),
            Operation::Multiply => a.checked_mul(b),
            Operation::Divide => a.checked_div(b),
            Operation::Remainder => a.checked_rem(b),
            Operation::CeilDivide => a.checked_add(b)?.checked_sub(1)?.checked_div(b),
        }
    }
}

impl Arithmetic for f64 {
    fn read(word: &str) -> Result<Self, &'static str> {
        word.parse().map_err(|_| "not a number")
    }

    fn compute(operation: Operation, a: Self, b: Self) -> Option<Self> {
        Some(match operation {
            Operation::Add => a + b,
            Operation::Subtract => a - b,
            Operation::Multiply => a * b,
            Operation::Divide => a / b,
            Operation::Remainder => a % b,
            Operation::CeilDivide => (a / b).ceil(),
        })
    }
}

/// Returns the value of an expression, or a sentence about what is wrong with it.
pub fn evaluate<N: Arithmetic>(text: &str, names: &[(&str, N)]) -> Result<N, String> {
    let mut parser = Parser { rest: text, names, depth: 0 };
    let value = parser.sum()?;
    match parser.rest.trim() {
        "" => Ok(value),
        rest => Err(format!("unexpected `{rest}` after the expression")),
    }
}

struct Parser<'a, N> {
    rest: &'a str,
    names: &'a [(&'a str, N)],
    depth: u32,
}

/// Deepest nesting of parentheses.
const MAX_DEPTH: u32 = 64;

impl<N: Arithmetic> Parser<'_, N> {
    fn takes(&mut self, c: char) -> bool {
        let after = self.rest.trim_start().strip_prefix(c);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn operator(&mut self, operators: &[(char, Operation)]) -> Option<Operation> {
        operators.iter().find(|(sign, _)| self.takes(*sign)).map(|(_, operation)| *operation)
    }

    fn sum(&mut self) -> Result<N, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        let mut value = self.product()?;
        while let Some(operation) = self.operator(&[('+', Operation::Add), ('-', Operation::Subtract)]) {
            value = computed(operation, value, self.product()?)?;
        }
        self.depth -= 1;
        Ok(value)
    }

    fn product(&mut self) -> Result<N, String> {
        const OPERATORS: [(char, Operation); 3] =
            [('*', Operation::Multiply), ('/', Operation::Divide), ('%', Operation::Remainder)];
        let mut value = self.factor()?;
        while let Some(operation) = self.operator(&OPERATORS) {
            value = computed(operation, value, self.factor()?)?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<N, String> {
        if self.takes('(') {
            let value = self.sum()?;
            return self.closed(value);
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        if let Some((_, value)) = self.names.iter().find(|(name, _)| *name == word) {
            return Ok(*value);
        }
        match word {
            "" => Err(match rest.chars().next() {
                Some(c) => format!("`{c}` is not understood"),
                None => "it ends too early".into(),
            }),
            "ceil_div" | "min" | "max" => {
                let mut argument = |before: char| match self.takes(before) {
                    true => self.sum(),
                    false => Err(format!("{word} takes two numbers in parentheses")),
                };
                let (first, second) = (argument('(')?, argument(',')?);
                let value = match word {
                    "min" if second < first => second,
                    "max" if first < second => second,
                    "min" | "max" => first,
                    _ => computed(Operation::CeilDivide, first, second)?,
                };
                self.closed(value)
            }
            number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                N::read(number).map_err(|what| format!("`{number}` is {what}"))
            }
            "ceil" => Err("numbers are integers here, and / rounds down: write ceil_div(a, b)".into()),
            other => {
                let names = self.names.iter().map(|(name, _)| *name);
                let known: Vec<&str> = names.filter(|name| name.chars().all(|c| !c.is_ascii_lowercase())).collect();
                Err(format!("`{other}` is not known; there are {}, ceil_div, min and max", known.join(", ")))
            }
        }
    }

    fn closed(&mut self, value: N) -> Result<N, String> {
        if self.takes(')') { Ok(value) } else { Err("a parenthesis is not closed".into()) }
    }
}

fn computed<N: Arithmetic>(operation: Operation, a: N, b: N) -> Result<N, String> {
    let divides = !matches!(operation, Operation::Add | Operation::Subtract | Operation::Multiply);
    if divides && b == N::default() {
        return Err("this divides by zero".into());
    }
    N::compute(operation, a, b).ok_or_else(|| "the number is too large".into())
}
