//! Arguments that cannot be what was meant: a float's bits as a count, half an address, a size that the buffer has not.

use super::arrays::Target;
use super::case::Case;
use super::layout::Outside;
use super::scene::Scene;
use super::source::Compared;
use super::words::{code, grouped, nth};
use simt::memory::is_low_half_of_an_address;

/// An argument that is no count, and why.
pub(crate) struct Strange {
    pub(crate) why: String,
    pub(crate) advice: String,
}

impl Scene<'_> {
    /// An integer argument that is something else: the bits of a float, or half an address.
    pub(crate) fn strange_argument(&self) -> Option<Strange> {
        (0..self.context.kernel.params.len()).find_map(|index| {
            let (name, ty) = self.parameter(index);
            if !matches!(ty?, "int" | "unsigned" | "unsigned int" | "int32_t" | "uint32_t") {
                return None;
            }
            let bits = u32::try_from(self.parameter_value(index)?).ok()?;
            let place = format!("the {} argument", nth(index as u64 + 1));
            if is_low_half_of_an_address(bits) {
                return Some(Strange {
                    why: format!("{name}, {place}, was given as {bits}: that is half of a device address."),
                    advice: format!(
                        "give the arguments in the order of the parameters: {}.",
                        code(&self.signature())
                    ),
                });
            }
            let float = f32::from_bits(bits);
            let count = (1.0..=16_777_216.0).contains(&float) && float.fract() == 0.0;
            count.then(|| Strange {
                why: format!(
                    "{name}, {place}, was given as {bits}: those are the bits of the float {float:?}."
                ),
                advice: format!("give {name} as an integer of 32 bits: {float}."),
            })
        })
    }

    /// `(int n, const float* in)`, as far as the source tells.
    fn signature(&self) -> String {
        let one = |index: usize| {
            let (name, ty) = self.parameter(index);
            ty.map_or(name.clone(), |ty| format!("{ty} {name}"))
        };
        let all: Vec<String> = (0..self.context.kernel.params.len()).map(one).collect();
        format!("({})", all.join(", "))
    }
}

/// A condition lets the access pass, because the parameter in it is larger than the array.
pub(crate) fn lying_bound(case: &Case<'_>, target: &Target, outside: &[Outside]) -> Option<(String, String)> {
    let scene = case.scene;
    let line = scene.loc(case.instr)?.line;
    let source = scene.source(case.instr)?;
    let conditions = source.conditions(&scene.context.kernel.name, line);
    outside.iter().find_map(|part| {
        conditions.iter().find_map(|Compared { left, right, text }| {
            let index =
                (0..scene.context.kernel.params.len()).find(|&index| scene.parameter(index).0 == *right)?;
            let (_, given) = scene.integers().into_iter().find(|(name, _)| name == right)?;
            if *left != part.text || part.value >= given || part.limit >= given {
                return None;
            }
            let element = &target.element;
            let size = match (&part.pitch, part.several) {
                (Some(pitch), _) => format!("a row of {} has {pitch} = {}", element.name, part.limit),
                (None, true) => format!("{} has only {} rows", element.name, part.limit),
                (None, false) => format!("{} has only {}", element.name, target.size()),
            };
            let why = format!(
                "the condition {} lets this pass: {right} = {}, but {size}.",
                code(text),
                grouped(given.unsigned_abs()),
            );
            let advice = match part.several {
                true => format!(
                    "check {right}, the {} argument, and the size of {}.",
                    nth(index as u64 + 1),
                    element.name
                ),
                false => format!(
                    "give {} for {right} (the {} argument), or a buffer of {given} {}.",
                    part.limit,
                    nth(index as u64 + 1),
                    target.elements(2)
                ),
            };
            Some((why, advice))
        })
    })
}
