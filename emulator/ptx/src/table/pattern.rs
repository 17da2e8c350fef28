//! Grammar of the table's patterns and operand lists.

use std::ops::RangeInclusive;

/// A row's pattern, split into alternatives.
pub(super) struct Pattern {
    parts: Vec<Part>,
}

/// Part of a pattern after the opcode.
enum Part {
    /// Alternative runs of modifiers; a run may be empty.
    One(Vec<Vec<&'static str>>),
    Any,
}

fn modifiers(text: &str) -> Vec<&str> {
    text.split('.').skip(1).collect()
}

/// Cuts a pattern into the opcode, literals and braces.
fn pieces(pattern: &str) -> (&str, Vec<&str>) {
    let end = pattern.find(['.', '{']).unwrap_or(pattern.len());
    let (opcode, mut rest) = pattern.split_at(end);
    let mut found = Vec::new();
    while !rest.is_empty() {
        let end = match rest.strip_prefix('{') {
            Some(inner) => inner.find('}').map_or(rest.len(), |at| at + 2),
            None => rest.find('{').unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(end);
        found.push(piece);
        rest = after;
    }
    (opcode, found)
}

/// Returns the opcode of a pattern: `add` of `add{,.sat}.s32`.
pub(super) fn opcode(pattern: &'static str) -> &'static str {
    pieces(pattern).0
}

fn alternatives(piece: &str) -> Vec<&str> {
    match piece.strip_prefix('{') {
        Some(inner) => inner.trim_end_matches('}').split(',').collect(),
        None => vec![piece],
    }
}

impl Pattern {
    pub(super) fn new(pattern: &'static str) -> Self {
        let (_, pieces) = pieces(pattern);
        let mut parts = Vec::new();
        for piece in pieces {
            if piece.starts_with('{') {
                parts.push(Part::One(alternatives(piece).into_iter().map(modifiers).collect()));
            } else {
                for word in modifiers(piece) {
                    parts.push(if word == "*" { Part::Any } else { Part::One(vec![vec![word]]) });
                }
            }
        }
        Pattern { parts }
    }

    /// Returns whether the pattern stands for these modifiers. Keeps the set of places reached, one bit each, instead
    /// of trying each combination, so the time is the product of the two lengths.
    pub(super) fn matches(&self, modifiers: &[&str]) -> bool {
        let n = modifiers.len();
        // No form has as many modifiers; in a form that takes any, those beyond the first ones do not matter.
        if n >= 64 {
            return self.parts.iter().any(|part| matches!(part, Part::Any)) && self.matches(&modifiers[..63]);
        }
        let mut reached = 1_u64;
        for part in &self.parts {
            let mut next = 0;
            let mut rest = reached;
            while rest != 0 {
                let at = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                match part {
                    Part::Any => next |= u64::MAX << at,
                    Part::One(runs) => {
                        for run in runs.iter().filter(|run| modifiers[at..].starts_with(run)) {
                            next |= 1 << (at + run.len());
                        }
                    }
                }
            }
            // Places past the end have no meaning.
            reached = next & (u64::MAX >> (63 - n));
            if reached == 0 {
                return false;
            }
        }
        reached >> n & 1 == 1
    }

    /// Returns the modifiers in this pattern's order, if it stands for them; those of a class in `ordered` keep theirs.
    pub(super) fn arrange(&self, ordered: &[Vec<&str>; 3], others: &[&str]) -> Option<Vec<&'static str>> {
        if ordered.iter().map(Vec::len).sum::<usize>() + others.len() > MAX_ARRANGED {
            return None;
        }
        let mut found = Vec::new();
        let ordered = ordered.each_ref().map(Vec::as_slice);
        arrange(&self.parts, ordered, &mut others.to_vec(), &mut found).then_some(found)
    }

    pub(super) fn n_forms(&self) -> u64 {
        self.parts.iter().map(|part| if let Part::One(runs) = part { runs.len() as u64 } else { 1 }).product()
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::One(runs) => runs.as_slice(),
                Part::Any => &[],
            })
            .flatten()
            .copied()
    }
}

/// No instruction has more modifiers; a limit on the combinations that are tried.
const MAX_ARRANGED: usize = 12;

/// Chooses an alternative of each part so that every word is used once.
fn arrange(parts: &[Part], ordered: [&[&str]; 3], others: &mut Vec<&str>, found: &mut Vec<&'static str>) -> bool {
    let Some((Part::One(runs), rest)) = parts.split_first() else {
        return parts.is_empty() && ordered.iter().all(|class| class.is_empty()) && others.is_empty();
    };
    for run in runs {
        let (n_found, before) = (found.len(), others.clone());
        let mut ordered = ordered;
        let fits = run.iter().all(|word| {
            if let Some(class) = ordered.iter_mut().find(|class| class.first() == Some(word)) {
                *class = &class[1..];
            } else if let Some(at) = others.iter().position(|other| other == word) {
                others.remove(at);
            } else {
                return false;
            }
            found.push(word);
            true
        });
        if fits && arrange(rest, ordered, others, found) {
            return true;
        }
        found.truncate(n_found);
        *others = before;
    }
    false
}

pub(super) fn expand(pattern: &str) -> Vec<String> {
    let (opcode, pieces) = pieces(pattern);
    let mut found = vec![opcode.to_owned()];
    for piece in pieces {
        let alternatives: Vec<String> =
            alternatives(piece).into_iter().map(|alternative| alternative.replace(".*", "")).collect();
        found = found
            .iter()
            .flat_map(|front| alternatives.iter().map(move |alternative| format!("{front}{alternative}")))
            .collect();
    }
    found
}

/// Returns the least and greatest number of operands of a list such as `d, [a, c]{, e}`.
pub(super) fn arity(operands: &str) -> RangeInclusive<usize> {
    let (mut least, mut most, mut nested, mut optional, mut inside) = (0, 0, 0, false, false);
    for letter in operands.chars() {
        match letter {
            '{' => optional = true,
            '}' => optional = false,
            ',' | ' ' if nested == 0 => {
                inside = false;
                continue;
            }
            _ => {}
        }
        if !inside && !matches!(letter, '{' | '}') {
            inside = true;
            most += 1;
            least += usize::from(!optional);
        }
        match letter {
            '[' | '(' => nested += 1,
            ']' | ')' => nested -= 1,
            _ => {}
        }
        if letter == '}' || letter == '{' {
            inside = false;
        }
    }
    least..=most
}
