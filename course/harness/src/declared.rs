//! For the steps' tests: what a step declares agrees with the catalogue, with the PTX and with the source.

use catalog::Shape;

use crate::kernel::{Code, Kernel};

/// Stops unless the kernels are those of the catalogue, in its order, and each block has as many threads as its PTX
/// was compiled for.
///
/// # Panics
/// When they differ: this is an assertion for tests.
#[track_caller]
pub fn agrees(step: &str, kernels: &[Kernel]) {
    let step = catalog::find(step).expect("a step of the catalogue");
    let names = |mut all: Vec<&'static str>| {
        all.retain(|name| !name.is_empty());
        all
    };
    assert_eq!(
        names(kernels.iter().map(|kernel| kernel.name).collect()),
        names(step.kernels.iter().map(|kernel| kernel.name).collect()),
    );
    for (kernel, listed) in kernels.iter().zip(step.kernels) {
        assert!(
            kernel.is(listed.work),
            "{} is declared as something else",
            kernel.name
        );
        let Some((code, config)) = kernel.code().zip(kernel.config(Shape::square(1))) else {
            continue;
        };
        let header = format!("// source: kernels/{}.cu ", listed.source.unwrap_or_default());
        assert!(
            code.ptx.contains(&header),
            "{}: the PTX is of another source",
            kernel.name
        );
        let (x, y, z) = config.block_dim;
        assert_eq!(
            threads(code.ptx, kernel.name),
            Some([x, y, z]),
            "{}: __launch_bounds__ and the block differ",
            kernel.name
        );
    }
}

/// `.maxntid` of an entry: what `__launch_bounds__` says.
fn threads(ptx: &str, entry: &str) -> Option<[u32; 3]> {
    let body = ptx.split_once(&format!(".entry {entry}("))?.1;
    let body = &body[..body.find('{')?];
    let line = body
        .lines()
        .find_map(|line| line.trim().strip_prefix(".maxntid"))?;
    let numbers: Vec<u32> = line.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    numbers.try_into().ok()
}

/// Stops unless the source defines these constants with these values.
///
/// # Panics
/// When they differ: this is an assertion for tests.
#[track_caller]
pub fn constants(code: Code, expected: &[(&str, u32)]) {
    for (name, value) in expected {
        assert_eq!(
            constant(code.cu, name),
            Some(*value),
            "{name} in the source and here"
        );
    }
}

/// The value of `constexpr int NAME = …`, which may be an expression of numbers and earlier constants.
fn constant(source: &str, name: &str) -> Option<u32> {
    let definitions = source
        .lines()
        .filter_map(|line| line.strip_prefix("constexpr int "))
        .filter_map(|line| line.split_once(';'))
        .flat_map(|(definitions, _)| definitions.split(','));
    for definition in definitions {
        let (defined, expression) = definition.split_once('=')?;
        if defined.trim() == name {
            return value(source, expression);
        }
    }
    None
}

/// Products and quotients, parentheses, numbers and names.
fn value(source: &str, expression: &str) -> Option<u32> {
    let expression = expression.trim();
    let mut depth = 0;
    // The last operator outside of parentheses: what stands before it is computed first.
    let mut split = None;
    for (at, c) in expression.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '*' | '/' if depth == 0 => split = Some((at, c)),
            _ => {}
        }
    }
    if let Some((at, operator)) = split {
        let left = value(source, &expression[..at])?;
        let right = value(source, &expression[at + 1..])?;
        return if operator == '*' {
            left.checked_mul(right)
        } else {
            left.checked_div(right)
        };
    }
    if let Some(inner) = expression
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return value(source, inner);
    }
    expression.parse().ok().or_else(|| constant(source, expression))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_computed_from_earlier_ones() {
        let source =
            "constexpr int BM = 128, BN = 64;  // tile\nconstexpr int THREADS = (BM / 8) * (BN / 8);\n";
        assert_eq!(constant(source, "BN"), Some(64));
        assert_eq!(constant(source, "THREADS"), Some(128));
        assert_eq!(constant(source, "BK"), None);
    }

    #[test]
    fn launch_bounds_are_those_of_the_entry() {
        let ptx = ".entry one(\n)\n.maxntid 32, 1, 1\n{\n}\n.entry two(\n)\n.maxntid 16, 16, 1\n.minnctapersm 2\n{\n}\n";
        assert_eq!(threads(ptx, "two"), Some([16, 16, 1]));
        assert_eq!(threads(ptx, "three"), None);
    }
}
