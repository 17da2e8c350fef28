//! GPUs whose instructions the crate can decode.

/// An instruction set that several GPUs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// Turing: sm_75.
    Sm75,
    /// Ampere and Ada: sm_80, sm_86, sm_87 and sm_89.
    Sm80,
    /// Hopper: sm_90.
    Sm90,
}

impl Architecture {
    /// All architectures, the oldest first.
    pub const ALL: [Architecture; 3] = [Architecture::Sm75, Architecture::Sm80, Architecture::Sm90];

    /// Looks an architecture up by the number of a GPU: 86 for `sm_86`.
    pub fn of(sm: u32) -> Option<Architecture> {
        Some(match sm {
            75 => Architecture::Sm75,
            80 | 86 | 87 | 89 => Architecture::Sm80,
            90 => Architecture::Sm90,
            _ => return None,
        })
    }

    /// Returns the number of the first GPU that has the instruction set: 80.
    pub fn sm(self) -> u32 {
        match self {
            Architecture::Sm75 => 75,
            Architecture::Sm80 => 80,
            Architecture::Sm90 => 90,
        }
    }
}
