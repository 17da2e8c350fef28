//! Small pieces of text: counts, plurals, positions, ranges.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

/// Positions of a thread in its block, as a kernel names them.
pub(crate) const THREAD_AXES: [&str; 3] = ["threadIdx.x", "threadIdx.y", "threadIdx.z"];

/// Returns a number with its noun: `1 thread`, `2 threads`.
pub(crate) fn count(n: u64, one: &str) -> String {
    format!("{n} {}", plural(n, one))
}

/// Returns the singular for 1, otherwise the plural: `thread` or `threads`.
pub(crate) fn plural(n: u64, one: &str) -> String {
    match n {
        1 => one.to_owned(),
        _ if one.ends_with("ch") => format!("{one}es"),
        _ => format!("{one}s"),
    }
}

/// Returns a number with commas, such as `2,000,000`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns an ordinal number: `1st`, `2nd`.
pub(crate) fn nth(n: u64) -> String {
    let suffix = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// Returns a position, with as many coordinates as the size uses: `7`, `(3,2)`, `(3,2,1)`.
pub(crate) fn position(at: [u32; 3], size: [u32; 3]) -> String {
    if size[2] > 1 {
        format!("({},{},{})", at[0], at[1], at[2])
    } else if size[1] > 1 {
        format!("({},{})", at[0], at[1])
    } else {
        at[0].to_string()
    }
}

/// Returns a size in as many dimensions as it uses: `256`, `16x16`.
pub(crate) fn size(size: [u32; 3]) -> String {
    match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}

/// Returns items as a list: `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Returns numbers as ranges: `0..99, 128`. At most four are named.
pub(crate) fn ranges(numbers: impl Iterator<Item = u64>) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let mut text = String::new();
    for (index, (first, last)) in spans.iter().enumerate() {
        if index == 4 {
            let _ = write!(text, ", … ({} more ranges)", spans.len() - 4);
            break;
        }
        let comma = if index > 0 { ", " } else { "" };
        let _ = if first == last { write!(text, "{comma}{first}") } else { write!(text, "{comma}{first}..{last}") };
    }
    text
}

pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    // A no-break space (U+00A0) holds together what a line end must not part, such as code in a sentence.
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Returns code in backticks that is not broken at line ends.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", text.split_whitespace().collect::<Vec<_>>().join("\u{a0}"))
}
