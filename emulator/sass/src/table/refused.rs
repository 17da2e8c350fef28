//! Instructions of sm_90 of which only the name is known, for messages of refusals.

/// Opcodes with their names, as `nvdisasm` prints them.
fn names() -> impl Iterator<Item = (u16, &'static str)> {
    include_str!("refused.txt").lines().map(|line| {
        let (opcode, name) = line.split_once(' ').expect("an opcode and a name");
        (u16::from_str_radix(opcode, 16).expect("a hexadecimal number"), name)
    })
}

/// Returns the name of an opcode that no row has.
pub(crate) fn name(opcode: u16) -> Option<&'static str> {
    names().find(|(known, _)| *known == opcode).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::architecture::Architecture;

    #[test]
    fn names_are_sorted_and_have_no_rows() {
        assert!(names().is_sorted_by_key(|(opcode, _)| opcode));
        for (opcode, name) in names() {
            let mut rows = crate::table::rows_of(opcode);
            assert!(!rows.any(|row| row.is_on(Architecture::Sm90)), "{name}");
        }
    }
}
