//! Arguments that cannot be intended: a float's bits as a count, half an address, a size larger than the buffer.

use crate::finding::Space;
use crate::launch_context::{LaunchContext, Reason};
use crate::locate::{arrays::Target, case::Case, layout::Outside};
use crate::source::Compared;
use crate::words::{code, nth};
use simt::memory::is_low_half_of_an_address;

impl LaunchContext<'_> {
    /// Returns the reason where an integer argument is something else: the bits of a float, or half an address.
    pub(crate) fn strange_argument(&self) -> Option<Reason> {
        (0..self.inputs.kernel.params.len()).find_map(|index| {
            let (name, ty) = self.parameter(index);
            if !matches!(ty?, "int" | "unsigned" | "unsigned int" | "int32_t" | "uint32_t") {
                return None;
            }
            let bits = u32::try_from(self.parameter_value(index)?).ok()?;
            let place = format!("the {} argument", nth(index as u64 + 1));
            if is_low_half_of_an_address(bits) {
                return Some(Reason::new(
                    format!("{name}, {place}, was given as {bits}: that is half of a device address."),
                    format!("give the arguments in the order of the parameters: {}.", code(&self.signature())),
                ));
            }
            let float = f32::from_bits(bits);
            let count = (1.0..=16_777_216.0).contains(&float) && float.fract() == 0.0;
            count.then(|| {
                Reason::new(
                    format!("{name}, {place}, was given as {bits}: those are the bits of the float {float:?}."),
                    format!("give {name} as an integer of 32 bits: {float}."),
                )
            })
        })
    }

    /// Returns the signature as far as it is in the source: `(int n, const float* in)`.
    fn signature(&self) -> String {
        let one = |index: usize| {
            let (name, ty) = self.parameter(index);
            ty.map_or(name.clone(), |ty| format!("{ty} {name}"))
        };
        let all: Vec<String> = (0..self.inputs.kernel.params.len()).map(one).collect();
        format!("({})", all.join(", "))
    }
}

/// Explains an access that a condition lets pass, because the parameter in it is larger than the array.
pub(crate) fn lying_bound(case: &Case<'_>, target: &Target, outside: &[Outside]) -> Option<Reason> {
    let launch = case.launch;
    let line = launch.loc(case.instr)?.line;
    let source = launch.source_of(case.instr)?;
    let conditions = source.conditions(&launch.inputs.kernel.name, line);
    let integers = launch.integers();
    outside.iter().find_map(|part| {
        conditions.iter().find_map(|Compared { left, right, text, .. }| {
            let index =
                (0..launch.inputs.kernel.params.len()).find(|&index| launch.parameter(index).0 == *right)?;
            let (_, given) = *integers.iter().find(|(name, _)| name == right)?;
            if *left != part.text || part.value >= given || part.limit >= given {
                return None;
            }
            let element = &target.element;
            let (name, place) = (&element.name, nth(index as u64 + 1));
            let passes = format!("the condition {} lets this pass: {right} = {given}", code(text));
            let bytes = target.allocation.as_ref().map_or(0, |found| found.bytes as i64);
            // Rows of another length would fill the array exactly.
            let length = |(other, value): &&(String, i64)| {
                Some(other) != part.factor.as_ref() && value.checked_mul(given) == Some(element.n_elements as i64)
            };
            let other_rows = integers.iter().find(length).zip(part.factor.as_ref());
            let other_rows = other_rows.filter(|_| part.outermost && part.several);
            if let Some(((other, is), pitch)) = other_rows
                && pitch != right
            {
                return Some(Reason::new(
                    format!(
                        "the index treats a row of {name} as {pitch} long, but {name} has {} = {right} * {other}: {given} rows of {is}.",
                        target.size(),
                    ),
                    format!("check which length a row of {name} has: {other} or {pitch}."),
                ));
            }
            let (size, advice) = match (&part.pitch, part.several) {
                (Some(_), _) | (None, true) => {
                    let size = match &part.pitch {
                        Some(pitch) => format!("a row of {name} has {pitch} = {}", part.limit),
                        // The index takes rows to be that long.
                        None => match part.factor.as_ref().filter(|_| element.space == Space::Global) {
                            Some(factor) => format!("{name} has only {} rows of {factor} elements", part.limit),
                            None => format!("{name} has only {} rows", part.limit),
                        },
                    };
                    let or = other_rows.map_or_else(String::new, |((other, _), pitch)| {
                        format!(" Or, if a row of {name} has {other} elements, multiply by {other}, not by {pitch}.")
                    });
                    let compare = |bound| format!("compare with {bound}: {}.{or}", code(&format!("{left} < {bound}")));
                    (size, part.bound(&integers).map(compare))
                }
                _ if matches!(element.space, Space::Local | Space::Shared) => {
                    let advice = format!(
                        "if {right} may be {given}, {name} needs room for {given} {}; if not, compare with {}.",
                        target.elements(2),
                        part.limit
                    );
                    (format!("{name} has only {}", target.size()), Some(advice))
                }
                _ if given == bytes => (
                    format!("{name} has only {}; {given} is its size in bytes", target.size()),
                    Some(format!("give {} for {right} (the {place} argument).", part.limit)),
                ),
                // As many floats would fit exactly: the types may differ, or the count.
                _ if element.element_bytes == 8 && given.checked_mul(4) == Some(bytes) => (
                    format!("{name} has only {}: {bytes} bytes, which {given} floats need", target.size()),
                    Some(format!(
                        "give {} for {right} (the {place} argument), or a buffer of {given} {}; if the host means floats, \
                         let {name} point to float.",
                        part.limit,
                        target.elements(2)
                    )),
                ),
                _ => (
                    format!("{name} has only {}", target.size()),
                    Some(format!(
                        "give {} for {right} (the {place} argument), or a buffer of {given} {}.",
                        part.limit,
                        target.elements(2)
                    )),
                ),
            };
            Some(Reason { why: Some(format!("{passes}, but {size}.")), advice })
        })
    })
}
