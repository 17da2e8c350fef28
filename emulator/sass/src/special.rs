//! Registers that the GPU fills.

use crate::architecture::Architecture;

/// A register that the GPU fills, by its number in the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpecialRegister(pub u8);

impl SpecialRegister {
    /// Returns the name: `SR_TID.X`; registers without a name have a number, `SR4`.
    pub fn name(self, architecture: Architecture) -> String {
        match (architecture, self.0) {
            (Architecture::Sm75, 24) => return "SR_MACHINE_ID_0".into(),
            (Architecture::Sm75 | Architecture::Sm80, number) if NEW.contains(&number) => {
                return format!("SR{number}");
            }
            _ => {}
        }
        let number = self.0.to_string();
        let mut names = NAMES.lines().filter_map(|line| line.split_once(' '));
        names.find(|(known, _)| *known == number).map_or_else(|| format!("SR{number}"), |(_, name)| name.to_owned())
    }
}

/// Numbers that have a name on sm_90 and none before.
const NEW: [u8; 6] = [65, 134, 135, 136, 137, 139];

/// Names as `nvdisasm` prints them for sm_90, each after its number.
const NAMES: &str = include_str!("special.txt");
