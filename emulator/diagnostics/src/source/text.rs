//! Pieces of C++ text and of mangled symbols.

/// Returns the bytes of a type, when it is a plain one.
pub(crate) fn size_of(ty: &str) -> Option<u32> {
    Some(match ty.trim() {
        "char" | "signed char" | "unsigned char" | "bool" | "int8_t" | "uint8_t" => 1,
        "short" | "unsigned short" | "int16_t" | "uint16_t" | "half" | "__half" | "__nv_bfloat16" => 2,
        "int" | "unsigned" | "unsigned int" | "float" | "int32_t" | "uint32_t" | "half2" | "__half2" => 4,
        "double" | "long long" | "unsigned long long" | "int64_t" | "uint64_t" | "size_t" | "float2" | "int2" => 8,
        "long" | "unsigned long" => 8,
        "float4" | "int4" | "uint4" | "double2" => 16,
        _ => return None,
    })
}

/// Returns a symbol as the programmer wrote it: the last name of a mangled one.
pub fn plain_name(symbol: &str) -> &str {
    let Some(mangled) = symbol.strip_prefix("_Z") else { return symbol };
    // A name inside a function: what follows the function's own encoding.
    if mangled.starts_with('Z')
        && let Some(name) = last_of_local(mangled)
    {
        return name;
    }
    last_name(mangled.trim_start_matches(['N', 'L', 'K', 'V', 'Z'])).unwrap_or(symbol)
}

/// Returns the function that a symbol is local to, as the programmer wrote it: `_ZZ5tiledE6a_tile` → `tiled`.
pub(crate) fn function_of(symbol: &str) -> Option<&str> {
    let mangled = symbol.strip_prefix("_Z").filter(|rest| rest.starts_with('Z'))?;
    let name = last_of_local(mangled)?;
    let end = name.as_ptr() as usize - mangled.as_ptr() as usize;
    last_name(mangled.get(1..end)?.trim_start_matches(['N', 'L', 'K', 'V']))
}

/// Returns the last of the names that a part of a mangled symbol starts with.
fn last_name(mangled: &str) -> Option<&str> {
    let first = source_name(mangled);
    std::iter::successors(first, |(_, after)| source_name(after)).last().map(|(name, _)| name)
}

/// Returns a name that reaches to the end (or to a `_0` that numbers it): `Z5tiledE6a_tile` → `a_tile`.
fn last_of_local(mangled: &str) -> Option<&str> {
    let ends = mangled.char_indices().filter(|(_, c)| *c == 'E').map(|(at, _)| at + 1);
    let mut names = ends.filter_map(|at| {
        let (name, after) = source_name(&mangled[at..])?;
        let numbered = after.trim_start_matches('_').chars().all(|c| c.is_ascii_digit() || c == '_');
        (after.is_empty() || after.starts_with('_') && numbered).then_some(name)
    });
    names.next_back()
}

fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = text[..digits].parse().ok()?;
    let name = text.get(digits..digits.checked_add(length)?)?;
    Some((name, &text[digits + length..]))
}

/// Identifiers with their positions.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = cpp_tokens::tokens(text).filter(|token| token.kind == cpp_tokens::Kind::Word);
    words.map(|token| (token.start, token.text))
}

/// Positions of one identifier.
pub(crate) fn named(text: &str, name: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_whole = move |at: usize, end: usize| {
        !(at > 0 && is_word(bytes[at - 1])) && bytes.get(end).is_none_or(|byte| !is_word(*byte))
    };
    let found = text.match_indices(name).map(|(at, name)| (at, at + name.len()));
    found.filter(move |&(at, end)| at < end && is_whole(at, end)).map(|(at, _)| at)
}

pub(crate) fn has_word(text: &str, word: &str) -> bool {
    named(text, word).next().is_some()
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the inside of the bracket that `text` starts with.
pub(crate) fn bracketed(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let open = *bytes.first()?;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => return None,
    };
    let mut depth = 0;
    let end = bytes.iter().position(|byte| {
        depth += i32::from(*byte == open) - i32::from(*byte == close);
        depth == 0
    });
    Some(&text[1..end?])
}

pub(crate) fn strip_qualifiers(text: &str) -> String {
    let qualifiers = ["__shared__", "__constant__", "__device__", "extern", "static", "const", "volatile", "constexpr"];
    let starts = ["alignas", "__align__", "__restrict__", "\"C\""];
    let is_type = |word: &&str| !qualifiers.contains(word) && !starts.iter().any(|start| word.starts_with(start));
    text.split_whitespace().filter(is_type).collect::<Vec<_>>().join(" ")
}

/// Replaces comments and literals by blanks; every other byte keeps its position.
pub(crate) fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for token in cpp_tokens::tokens(text) {
        let code = if token.is_quoted() { token.end()..token.end() } else { token.start..token.end() };
        for at in out.len()..token.end() {
            let byte = text.as_bytes()[at];
            // What continues a directive stays.
            let is_kept = code.contains(&at)
                || byte.is_ascii_whitespace()
                || byte == b'\\' && text[at + 1..].starts_with(['\r', '\n']);
            let shown = if byte.is_ascii() { char::from(byte) } else { '_' };
            out.push(if is_kept { shown } else { ' ' });
        }
    }
    out
}
