//! Errors of a CUDA compiler as records: file, line, message, and at most one hint per log.
//!
//! NVRTC writes `my/v05.cu(23): error: …`, clang `my/v05.cu:23:5: error: …`.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileError {
    /// Name as the compiler prints it; empty when it prints none.
    pub file: String,
    /// Line of the file, from 1; 0 when unknown.
    pub line: u32,
    /// Text after the word `error:`.
    pub message: String,
}

/// Errors of a source that a compiler refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Errors in the order of the log, each location once.
    pub errors: Vec<CompileError>,
    /// Usual cause of the first error, if `HINTS` lists it: others may follow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Log of the compiler, cut to a length that a person can read.
    pub log: String,
}

const MAX_ERRORS: usize = 20;
const MAX_LOG_BYTES: usize = 16 << 10;
/// Message limit: types of templates can be endless.
const MAX_MESSAGE_BYTES: usize = 400;

impl Refused {
    pub fn from_log(log: &str) -> Self {
        let mut errors: Vec<CompileError> = Vec::new();
        for error in log.lines().filter_map(error_of) {
            if errors.len() < MAX_ERRORS && !errors.contains(&error) {
                errors.push(error);
            }
        }
        let hint = errors.first().and_then(|error| hint(&error.message, shown(log))).map(str::to_owned);
        Self { errors, hint, log: cut(log, MAX_LOG_BYTES) }
    }

    /// Returns the first error as `my/v05.cu:23: …`, or a line of the log when no error was recognised.
    pub fn first(&self) -> String {
        match self.errors.first() {
            Some(error) => error.to_string(),
            None => cut(self.log.trim().lines().next().unwrap_or("the compiler gave no reason"), MAX_MESSAGE_BYTES),
        }
    }
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => f.write_str(&self.message),
            (file, 0) => write!(f, "{file}: {}", self.message),
            (file, line) => write!(f, "{file}:{line}: {}", self.message),
        }
    }
}

fn cut(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

fn error_of(line: &str) -> Option<CompileError> {
    let (place, message) =
        ["catastrophic error: ", "fatal error: ", "error: "].iter().find_map(|word| line.split_once(word))?;
    // The source's text may contain the words as well; locations end with a colon or are empty.
    let place = place.trim();
    let place = match place.strip_suffix(':') {
        Some(place) => place,
        None if place.is_empty() => "",
        None => return None,
    };
    let (file, line) = match place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        Some((file, line)) => (file, line.parse().unwrap_or(0)),
        None => {
            let mut parts = place.rsplitn(3, ':');
            let (last, middle, first) = (parts.next(), parts.next(), parts.next());
            match (first, middle, last) {
                (Some(file), Some(line), Some(column)) if column.parse::<u32>().is_ok() => {
                    (file, line.parse().unwrap_or(0))
                }
                _ => (place, 0),
            }
        }
    };
    Some(CompileError { file: file.to_owned(), line, message: cut(message.trim(), MAX_MESSAGE_BYTES) })
}

/// Returns the line that a compiler shows for the first error, and the column of the caret below it.
fn shown(log: &str) -> (&str, usize) {
    let mut lines = log.lines().skip_while(|line| error_of(line).is_none()).skip(1).peekable();
    while let Some(line) = lines.next() {
        let below = lines.peek().unwrap_or(&"");
        match below.find('^') {
            Some(column) if below.trim().trim_matches('~') == "^" => {
                return (line.split("//").next().unwrap_or(line), column);
            }
            _ => {}
        }
    }
    ("", 0)
}

/// Rows of messages and the usual cause of such errors. `&&` stands between words that must all occur in a message, or
/// `line:` in the line that the compiler shows, `at:` at its caret (`name:` in any spelling), `before:` before it.
/// `line:[,]` is a comma in brackets, and `at:start` the first word of the line.
macro_rules! hints {
    ($($($($words:literal)&&+)||+ => $hint:literal;)*) => { &[$((&[$(&[$($words),+]),+], $hint)),*] };
}

const HINTS: &[(&[&[&str]], &str)] = hints! {
    "" && "line: in " && "line:.." => "a range is Rust: write for (int k = 0; k < K; ++k)";
    "expected" && "line: as " => "`as` is Rust: write float(x) or int(x)";
    "\"let\"" || "'let'" || "\"mut\"" || "'mut'" =>
        "`let` and `mut` are Rust: a variable has its type in front, as in float acc = 0;";
    "\"fn\"" || "'fn'" => "`fn` is Rust: a function has its type in front, as in __device__ void f(int n)";
    "\"f32\"" || "'f32'" || "\"f64\"" || "'f64'" || "\"i32\"" || "'i32'" || "\"u32\"" || "'u32'" || "\"usize\"" || "'usize'" =>
        "this type is called otherwise in CUDA: float, double, int, unsigned or size_t";
    "\"println\"" || "'println'" => "`println!` is Rust: write printf(\"%d\\n\", row);";
    "undefined" && "name:threadidx." || "undefined" && "name:threadid." || "undeclared" && "name:threadid" =>
        "it is spelled threadIdx, with .x, .y and .z";
    "undefined" && "name:blockidx." || "undefined" && "name:blockid." || "undeclared" && "name:blockid" =>
        "it is spelled blockIdx, with .x, .y and .z";
    "syncthreads\"" || "synchthreads\"" || "\"__syncthread\"" || "syncthreads'" =>
        "the barrier is spelled __syncthreads(), with two underscores in front";
    "\"__shared\"" || "'__shared'" || "\"__shared_\"" || "\"shared\"" && "line:shared float" =>
        "it is spelled __shared__, with two underscores on both sides";
    "" && "line:=<" => "`=<` is no operator: write <=";
    "must be a pointer" && "line:**" => "C++ has no power operator: multiply";
    "expected a \"(\"" && "line:if " || "expected a \"(\"" && "line:while " || "expected '('" && "line:if " ||
    "expected '('" && "line:while " => "the condition stands in parentheses: if (…), while (…)";
    "parentheses of apparent call" || "called object type" =>
        "parentheses call a function: an element of a matrix is X[row * columns + col]";
    "" && "line:[,]" => "each dimension has its own brackets: tile[row][col]";
    "must have arithmetic" =>
        "one side is no number: is a subscript missing (tile[row][col]), or a member of a float4 (.x)?";
    "\"{...}\" expected" || "array initializer" => "an array is set to zero by braces: float acc[4] = {};";
    "overloaded function" || "is ambiguous" =>
        "the arguments fit several functions of this name: give them one type; for ints there are min and max";
    "literal operator" || "invalid suffix" => "a float constant has a point in front of its f: 0.0f";
    "closing brace of" => "a brace that is opened in this function is not closed";
    "expected a \";\"" && "at:+=" => "a declaration cannot add: declare the variable above the loop, and leave the type out here";
    "is undefined" && "threadIdx" =>
        "the kernel is not compiled as CUDA: is `threadIdx` used in a function without __global__ or __device__?";
    "identifier \"float4\"" =>
        "float4 is built in; is a name spelled otherwise, or a semicolon missing above?";
    "is undefined" || "undeclared identifier" =>
        "a name is used that is not declared here: look at its spelling, and whether it was declared in an inner { } block";
    "expected a \";\"" && "at:{" =>
        "a brace stands where a statement should end: most often a function or a loop above is not closed";
    "expected a \";\"" && "at:start" => "a semicolon is missing at the end of the statement before this line";
    "expected ';'" => "a semicolon is missing at the caret";
    "expected a \"}\"" || "expected '}'" =>
        "a brace is opened and not closed; the place where it is missing is above this line";
    "expected a declaration" || "extraneous closing brace" =>
        "this line lies outside of every function: a brace above it closes too much";
    "static assertion failed" || "static_assert failed" =>
        "constants at the top of the file no longer fit each other; the assertion says which";
    "must have a constant value" =>
        "the size of a __shared__ array must be known when it is compiled: constexpr, or a template parameter";
    "must be a modifiable lvalue" && "at:A[" || "must be a modifiable lvalue" && "at:B[" ||
    "must be a modifiable lvalue" && "at:in[" || "read-only" || "const-qualified type" =>
        "A and B are const, and so are values declared const: write to C or to a variable of your own";
    "must be a modifiable lvalue" && "before:if (" || "must be a modifiable lvalue" && "before:|| " => "`=` assigns: write == to compare";
    "must be a modifiable lvalue" =>
        "what is assigned to here cannot change: it is declared const, or is no variable";
    "no suitable conversion" && "float4" =>
        "a float4 is four numbers: take its .x, .y, .z or .w, or load with load4(&…)";
    "no operator" && "float4" || "invalid operands" && "float4" =>
        "float4 has no arithmetic: compute with its .x, .y, .z and .w one by one";
    "address of vector element" =>
        "clang has no addresses of single elements of a float4, which NVIDIA's compiler has: assign .x, .y, .z and .w";
    "incompatible with parameter of type" =>
        "an address is wanted where a value is given, or the other way round: & takes the address of an element";
    "no matching function" || "no instance of function template" =>
        "the number or the types of the arguments differ from those of the function: look it up in common.cuh";
    "too few arguments" => "an argument is missing: look the function up in common.cuh";
    "too many arguments" => "there is an argument too many: look the function up in common.cuh";
    "expression must have pointer" || "subscripted value" =>
        "this is subscripted more often than it has dimensions: A, B and C have one, X[row * columns + col]";
    "crt/mma.h" =>
        "mma.h needs a header of nvcc that setup does not fetch: include \"v10_fragments.cuh\" in its place, or name a whole \
         CUDA 12.4 toolkit, as TILE_NVRTC=/usr/local/cuda";
    "\"crt/" =>
        "this header needs others of nvcc that setup does not fetch: name a whole CUDA 12.4 toolkit, as \
         TILE_NVRTC=/usr/local/cuda";
    "cannot open source file" || "could not open source file" =>
        "only common.cuh and the headers of CUDA are there; the C++ standard library is not, and is not needed";
    "file not found" => "only common.cuh is there; the C++ standard library is not, and is not needed";
    "calling a __host__ function" => "a kernel can call only functions marked __device__";
    "already been declared" || "redefinition of" => "two things of one name: call one of them otherwise";
    "narrowing conversion" =>
        "a number does not fit the type in the braces: convert it, or use = instead of braces";
    "too much shared data" => "a kernel may declare 48 KiB of __shared__ arrays: make the tiles smaller";
};

fn hint(message: &str, (line, caret): (&str, usize)) -> Option<&'static str> {
    let at = line.get(caret..).unwrap_or_default();
    let has = |words: &&str| match words.split_once(':').unwrap_or_default() {
        ("line", "[,]") => {
            line.split('[').skip(1).any(|rest| rest.split([']', '(']).next().unwrap_or_default().contains(','))
        }
        ("line", words) => line.contains(words),
        ("at", "start") => !line.is_empty() && line.get(..caret).is_some_and(|before| before.trim().is_empty()),
        ("at", words) => at.starts_with(words),
        ("name", words) => at.replace('_', "").to_lowercase().starts_with(words),
        ("before", words) => line.get(..caret).is_some_and(|before| before.ends_with(words)),
        _ => message.contains(words),
    };
    HINTS.iter().find(|(causes, _)| causes.iter().any(|words| words.iter().all(has))).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_both_compilers_are_read() {
        let nvrtc = "my/v05.cu(23): error: identifier \"acc2\" is undefined\n          acc2 += 1; // error: no\n          ^\n\n\
                     my/v05.cu(30): error: expected a \";\"\n\n2 errors detected in the compilation of \"my/v05.cu\".\n";
        let refused = Refused::from_log(nvrtc);
        let messages: Vec<String> = refused.errors.iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["my/v05.cu:23: identifier \"acc2\" is undefined", "my/v05.cu:30: expected a \";\""]);
        assert!(refused.hint.expect("known").contains("not declared here"));
        let clang = "my/v05.cu:23:5: error: expected ';' after expression\n    x\n    ^\n1 error generated.\n";
        let refused = Refused::from_log(clang);
        assert_eq!(refused.first(), "my/v05.cu:23: expected ';' after expression");
        assert!(refused.hint.expect("known").contains("semicolon"));
    }

    /// Each row of the file: what NVRTC says, the line that it shows with a caret, and a part of the hint.
    #[test]
    fn first_mistakes_have_their_hint() {
        for row in include_str!("../../../tests/data/compile-errors.txt").lines().filter(|row| !row.starts_with('#')) {
            let [message, line, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
            let caret = line.find('^').expect("a caret");
            let log = format!("my/v01.cu(9): error: {message}\n{}\n{:caret$}^\n\n", line.replacen('^', "", 1), "");
            let hint = Refused::from_log(&log).hint.unwrap_or("none".into());
            assert!(hint.contains(expected), "{row}: {hint}");
        }
    }

    #[test]
    fn headers_of_nvcc_are_told_from_those_of_the_standard_library() {
        let hint = |header: &str| {
            Refused::from_log(&format!("a.h(55): catastrophic error: cannot open source file \"{header}\"\n")).hint
        };
        assert!(hint("crt/mma.h").expect("known").contains("v10_fragments.cuh"));
        assert!(hint("crt/sm_90_rt.h").expect("known").contains("CUDA 12.4 toolkit"));
        assert!(hint("vector").expect("known").contains("standard library"));
    }

    #[test]
    fn catastrophes_and_unknown_words_are_kept() {
        let log = "a.cu(1): catastrophic error: cannot open source file \"x.h\"\n";
        let refused = Refused::from_log(log);
        assert_eq!(refused.first(), "a.cu:1: cannot open source file \"x.h\"");
        assert_eq!(Refused::from_log("something else\n").first(), "something else");
        assert_eq!(Refused::from_log("").first(), "the compiler gave no reason");
    }

    #[test]
    fn a_long_log_is_cut_between_letters() {
        let refused = Refused::from_log(&"é".repeat(MAX_LOG_BYTES));
        assert!(refused.log.len() <= MAX_LOG_BYTES);
    }
}
