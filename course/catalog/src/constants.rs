//! Constants of a kernel's source, so that its tile and its threads stand in one place.
//!
//! The functions are `const`: the programs of the steps read their sources while they are compiled.

#[cfg(test)]
mod tests;

/// The tile of C that a block owns, and its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    pub rows: u32,
    pub cols: u32,
    /// Threads of the block, in a row.
    pub threads: u32,
}

impl Tile {
    /// Returns the tile of a source that defines `BM`, `BN` and `THREADS`.
    pub const fn from_source(source: &str) -> Option<Self> {
        match (constant(source, "BM"), constant(source, "BN"), constant(source, "THREADS")) {
            (Some(rows), Some(cols), Some(threads)) => Some(Self { rows, cols, threads }),
            _ => None,
        }
    }
}

/// Returns the value of `constexpr int NAME = …` at the start of a line: products and quotients, also of constants.
pub const fn constant(source: &str, name: &str) -> Option<u32> {
    defined(source.as_bytes(), name.as_bytes())
}

const fn defined(source: &[u8], name: &[u8]) -> Option<u32> {
    let Some(at) = definition(source, name) else { return None };
    let Some((value, _)) = product(source, at) else { return None };
    Some(value)
}

const KEYWORD: &[u8] = b"constexpr int ";

/// Returns the start of the expression that defines a constant.
const fn definition(source: &[u8], name: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < source.len() {
        if starts_with(source, at, KEYWORD) {
            at += KEYWORD.len();
            // NAME = expression, NAME = expression;
            loop {
                at = skip_spaces(source, at);
                let end = word(source, at);
                let expression = skip_spaces(source, end);
                if end - at == name.len() && starts_with(source, at, name) && byte(source, expression) == b'=' {
                    return Some(expression + 1);
                }
                while !matches!(byte(source, at), b',' | b';' | b'\n' | 0) {
                    at += 1;
                }
                if byte(source, at) != b',' {
                    break;
                }
                at += 1;
            }
        }
        while at < source.len() && source[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    None
}

/// Returns the value of factors with `*` and `/` between them, and where they end.
const fn product(source: &[u8], at: usize) -> Option<(u32, usize)> {
    let Some((mut value, mut at)) = factor(source, at) else { return None };
    loop {
        at = skip_spaces(source, at);
        let operator = byte(source, at);
        if !matches!(operator, b'*' | b'/') {
            return Some((value, at));
        }
        let Some((next, end)) = factor(source, at + 1) else { return None };
        let result = if operator == b'*' { value.checked_mul(next) } else { value.checked_div(next) };
        let Some(result) = result else { return None };
        (value, at) = (result, end);
    }
}

/// Returns the value of a number, a constant, or an expression in parentheses, and where it ends.
const fn factor(source: &[u8], at: usize) -> Option<(u32, usize)> {
    let at = skip_spaces(source, at);
    if byte(source, at) == b'(' {
        return match product(source, at + 1) {
            Some((value, end)) if byte(source, end) == b')' => Some((value, end + 1)),
            _ => None,
        };
    }
    let end = word(source, at);
    let (before, rest) = source.split_at(at);
    let (text, _) = rest.split_at(end - at);
    if byte(source, at).is_ascii_digit() {
        let Ok(digits) = std::str::from_utf8(text) else { return None };
        let Ok(value) = u32::from_str_radix(digits, 10) else { return None };
        return Some((value, end));
    }
    // A constant is defined before its use, so a definition in terms of itself has no value.
    match defined(before, text) {
        Some(value) if !text.is_empty() => Some((value, end)),
        _ => None,
    }
}

/// Returns the end of the name or number that begins here.
const fn word(source: &[u8], mut at: usize) -> usize {
    while byte(source, at).is_ascii_alphanumeric() || byte(source, at) == b'_' {
        at += 1;
    }
    at
}

const fn skip_spaces(source: &[u8], mut at: usize) -> usize {
    while byte(source, at) == b' ' {
        at += 1;
    }
    at
}

/// Returns a byte of the source; 0 after its end.
const fn byte(source: &[u8], at: usize) -> u8 {
    if at < source.len() { source[at] } else { 0 }
}

const fn starts_with(source: &[u8], at: usize, text: &[u8]) -> bool {
    let mut i = 0;
    while i < text.len() {
        if byte(source, at + i) != text[i] {
            return false;
        }
        i += 1;
    }
    true
}
