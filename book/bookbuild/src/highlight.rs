//! Highlights code when the book is built: C++ with CUDA's names, Rust, Python, shells, and differences.
//!
//! A line becomes HTML in which each coloured token is a `span` with a one-letter class: `k` keyword, `q` CUDA
//! qualifier, `t` type, `b` name defined by CUDA, `n` number, `s` string, `c` comment, `m` directive or attribute.
//! This is a tokenizer, not a parser: it never fails, and loses no character.

use std::collections::BTreeMap;

use catalog::text::escaped;

struct Language {
    /// Words with blanks between them, as in `types`.
    keywords: &'static str,
    types: &'static str,
    line_comment: &'static str,
    has_block_comments: bool,
    /// Selects the rules for names, lifetimes and prompts that only one language has.
    syntax: Syntax,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Cuda,
    Rust,
    Python,
    Shell,
}

const CUDA: Language = Language {
    keywords: "alignas alignof asm auto break case class const const_cast constexpr continue default delete do else \
        enum explicit extern false for friend goto if inline namespace new noexcept nullptr operator private public \
        reinterpret_cast return sizeof static static_assert static_cast struct switch template this true typedef \
        typename union using virtual volatile while",
    types: "bool char double float int long short signed unsigned void size_t int8_t int16_t int32_t int64_t uint8_t \
        uint16_t uint32_t uint64_t dim3 half char2 char4 uchar4 short2 short4 int2 int3 int4 uint2 uint3 uint4 float2 \
        float3 float4 double2 longlong2 cudaError_t cudaStream_t",
    line_comment: "//",
    has_block_comments: true,
    syntax: Syntax::Cuda,
};

const RUST: Language = Language {
    keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match \
        mod move mut pub ref return self static struct super trait true type unsafe use where while",
    types: "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Box Option Result Self String Vec",
    line_comment: "//",
    has_block_comments: true,
    syntax: Syntax::Rust,
};

const PYTHON: Language = Language {
    keywords: "and as assert break class continue def del elif else except False finally for from global if import in \
        is lambda None nonlocal not or pass raise return True try while with yield",
    types: "bool bytes dict float int list range str tuple",
    line_comment: "#",
    has_block_comments: false,
    syntax: Syntax::Python,
};

const SHELL: Language =
    Language { keywords: "", types: "", line_comment: "#", has_block_comments: false, syntax: Syntax::Shell };

/// Names that CUDA defines, besides those that begin with `__` or `atomic`.
const BUILTINS: &str = "threadIdx blockIdx blockDim gridDim warpSize printf fma fmaf min max make_float2 make_float4 \
    make_int4 make_uint4";

const QUALIFIERS: &str = "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ \
    __forceinline__ __noinline__ __launch_bounds__ __align__";

fn language(name: &str) -> Option<&'static Language> {
    match name {
        "cpp" | "cuda" | "c" | "diff" => Some(&CUDA),
        "rust" => Some(&RUST),
        "python" => Some(&PYTHON),
        "sh" | "toml" => Some(&SHELL),
        _ => None,
    }
}

/// Returns the words of CUDA C++ by their class, for the editor in the page.
pub(crate) fn cuda_words() -> BTreeMap<char, &'static str> {
    BTreeMap::from([('k', CUDA.keywords), ('t', CUDA.types), ('q', QUALIFIERS), ('b', BUILTINS)])
}

/// Returns whether code in this language gets colours.
pub(crate) fn is_known(name: &str) -> bool {
    language(name).is_some()
}

/// Returns the lines of a block as HTML. Lines of a difference keep their sign.
pub(crate) fn lines(name: &str, lines: &[&str]) -> Vec<String> {
    let Some(language) = language(name) else { return lines.iter().map(|line| escaped(line)).collect() };
    let mut in_comment = false;
    let colour = |line: &&str| match (name, line.chars().next()) {
        ("diff", Some('+' | '-' | ' ')) if !line.starts_with("+++") && !line.starts_with("---") => {
            // The text before a changed line may be far away, so no state is carried over.
            format!("{}{}", &line[..1], tokens(language, &line[1..], &mut false))
        }
        ("diff", _) => format!("<span class=\"m\">{}</span>", escaped(line)),
        _ => tokens(language, line, &mut in_comment),
    };
    lines.iter().map(colour).collect()
}

fn tokens(language: &Language, line: &str, in_comment: &mut bool) -> String {
    let mut out = String::with_capacity(line.len() * 2);
    let mut rest = line;
    let mut put = |class: Option<char>, text: &str| match class {
        Some(class) => out.push_str(&format!("<span class=\"{class}\">{}</span>", escaped(text))),
        None => out.push_str(&escaped(text)),
    };
    if *in_comment {
        let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
        *in_comment = !rest[..end].ends_with("*/");
        put(Some('c'), &rest[..end]);
        rest = &rest[end..];
    } else if is_directive(language.syntax, rest) {
        put(Some('m'), rest);
        return out;
    }
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let is_start = !before.is_alphanumeric() && before != '_';
        let (class, length) = if rest.starts_with(language.line_comment)
            && (language.syntax != Syntax::Shell || before.is_whitespace())
        {
            (Some('c'), rest.len())
        } else if language.has_block_comments && rest.starts_with("/*") {
            let end = rest[2..].find("*/").map(|at| at + 4);
            *in_comment = end.is_none();
            (Some('c'), end.unwrap_or(rest.len()))
        } else if let Some(length) = string(language.syntax, rest) {
            (Some('s'), length)
        } else if is_start && first.is_ascii_digit() && language.syntax != Syntax::Shell {
            (Some('n'), number(rest))
        } else if is_start && (first.is_alphabetic() || first == '_') {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (word(language, &rest[..length]), length)
        } else {
            (None, first.len_utf8())
        };
        put(class, &rest[..length]);
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    out
}

fn is_directive(syntax: Syntax, line: &str) -> bool {
    let line = line.trim_start();
    match syntax {
        // `#pragma unroll  // why` is rare enough to be one colour.
        Syntax::Cuda => line.starts_with('#'),
        Syntax::Rust => line.starts_with("#[") || line.starts_with("#!["),
        Syntax::Python => line.starts_with('@'),
        Syntax::Shell => false,
    }
}

/// Returns the length of a string or character literal at the start of `text`.
fn string(syntax: Syntax, text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => {
                // `'a` is a lifetime, `'a'` a character; `1'000` is a C++ number.
                let is_character =
                    syntax != Syntax::Rust || text[1..at].chars().count() == 1 || text[1..].starts_with('\\');
                return (quote == '"' || is_character).then_some(at + 1);
            }
            _ => {}
        }
    }
    // A string of Python or Rust may continue on the next line; a lone apostrophe does not start one.
    (quote == '"').then_some(text.len())
}

fn number(text: &str) -> usize {
    let is_part = |(at, c): (usize, char)| {
        let is_exponent = at > 0 && matches!(text.as_bytes()[at - 1], b'e' | b'E') && !text.starts_with("0x");
        // In `0..n` only the 0 is a number.
        let is_point = c == '.' && !text[at..].starts_with("..");
        c.is_ascii_alphanumeric() || c == '_' || is_point || is_exponent && matches!(c, '+' | '-')
    };
    text.char_indices().find(|one| !is_part(*one)).map_or(text.len(), |(at, _)| at)
}

fn word(language: &Language, word: &str) -> Option<char> {
    let is_among = |words: &str| words.split(' ').any(|known| known == word);
    if is_among(language.keywords) {
        Some('k')
    } else if is_among(language.types) {
        Some('t')
    } else if language.syntax != Syntax::Cuda {
        None
    } else if is_among(QUALIFIERS) {
        Some('q')
    } else if is_among(BUILTINS) || word.starts_with("__") || word.starts_with("atomic") {
        Some('b')
    } else {
        None
    }
}
