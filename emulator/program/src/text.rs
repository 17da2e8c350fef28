//! Text of an instruction in pieces.

/// An instruction such as `@%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+16];`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrText<'a> {
    /// `%p1`, or `!%p1`.
    pub guard: Option<&'a str>,
    /// `ld.global.v2.f32`
    pub mnemonic: &'a str,
    /// `{%f1, %f2}` and `[%rd1+16]`
    pub operands: Vec<&'a str>,
}

impl<'a> InstrText<'a> {
    pub fn new(text: &'a str) -> Self {
        let text = text.trim().trim_end_matches(';');
        let word = |text: &'a str| text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (guard, text) = match text.strip_prefix('@').map(word) {
            Some((guard, rest)) => (Some(guard), rest.trim_start()),
            None => (None, text),
        };
        let (mnemonic, rest) = word(text);
        let mut operands: Vec<&str> = split(rest, ',').into_iter().map(str::trim).collect();
        operands.pop_if(|last| last.is_empty());
        Self { guard, mnemonic, operands }
    }

    /// Returns the name up to the first point.
    pub fn family(&self) -> &'a str {
        self.mnemonic.split('.').next().unwrap_or("")
    }

    /// Returns the operand that names the registers which the instruction sets, and the others.
    pub fn set_and_read(&self) -> (&'a str, &[&'a str]) {
        const SET_NONE: [&str; 14] = [
            "st", "red", "bar", "barrier", "bra", "brx", "ret", "exit", "membar", "fence", "cp", "call", "trap",
            "prefetch",
        ];
        match self.operands.split_first() {
            // The results of a call are in parentheses.
            Some((first, others)) if first.starts_with('(') => (first, others),
            Some((first, others)) if !first.starts_with('[') && !SET_NONE.contains(&self.family()) => (first, others),
            _ => ("", &self.operands),
        }
    }

    pub fn sets(&self) -> impl Iterator<Item = &'a str> {
        registers(self.set_and_read().0)
    }
}

pub fn registers(operand: &str) -> impl Iterator<Item = &str> {
    operand.match_indices('%').map(|(at, _)| {
        let rest = &operand[at..];
        let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && !"_$".contains(c));
        end.map_or(rest, |end| &rest[..=end])
    })
}

/// Splits a text at a character outside of brackets.
pub fn split(text: &str, at: char) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut parts = Vec::new();
    for (index, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if c == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_taken_apart() {
        let parsed = |text: &'static str| {
            let text = InstrText::new(text);
            (text.guard, text.mnemonic, text.operands.len(), text.sets().collect::<Vec<_>>().join(" "))
        };
        let wide = parsed("ld.global.v2.f32 {%f1, %f2}, [%rd6+8];");
        assert_eq!(wide, (None, "ld.global.v2.f32", 2, "%f1 %f2".into()));
        assert_eq!(parsed("@!%p1 st.shared.u32 [%rd2], %r4;"), (Some("!%p1"), "st.shared.u32", 2, String::new()));
        assert_eq!(parsed("setp.lt.s32 %p1|%p2, %r1, %r2;"), (None, "setp.lt.s32", 3, "%p1 %p2".into()));
        assert_eq!(parsed("ret;"), (None, "ret", 0, String::new()));
    }
}
