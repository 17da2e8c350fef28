use super::rows;
use crate::operation::{Modifier, Operation};
use crate::{architecture::Architecture, decode::decode};

#[test]
fn every_row_is_found_by_its_own_bits() {
    for architecture in Architecture::ALL {
        for row in rows().iter().filter(|row| row.is_on(architecture)) {
            let word = u128::from(row.opcode) | 7 << 12 | row.layout.example(architecture);
            let found = decode(architecture, word, 0).unwrap_or_else(|error| panic!("{row:?}: {error}"));
            assert!(std::ptr::eq(found.row, row), "{row:?} is hidden by {:?} on {architecture:?}", found.row);
            assert!(found.n_destinations <= found.operands.len());
        }
    }
}

#[test]
fn every_name_belongs_to_a_row() {
    let patterns: Vec<&str> = rows().iter().map(|row| row.pattern.as_str()).collect();
    for operation in Operation::ALL {
        assert_eq!(Operation::from_name(operation.name()), Some(*operation));
        assert!(rows().iter().any(|row| row.operation == *operation), "{operation}");
    }
    for modifier in Modifier::ALL {
        let name = format!(".{modifier}");
        assert!(patterns.iter().any(|pattern| pattern.contains(&name)), "{modifier}");
    }
}
