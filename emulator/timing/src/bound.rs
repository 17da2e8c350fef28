//! What each unit alone would need.

/// A unit that a kernel may keep busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// The schedulers: one instruction per clock each.
    Issue,
    /// 32-bit floats.
    Fma,
    /// Integers, logic, comparisons.
    Alu,
    /// Integer multiply-add.
    IntegerFma,
    /// 64-bit floats.
    Double,
    /// Reciprocals, roots, exponentials, conversions, special registers.
    Special,
    /// Loads from constant memory by an instruction of their own.
    Constants,
    /// Shared memory and L1: wavefronts.
    SharedAndL1,
    /// Between L2 and the SMs.
    L2,
    /// Device memory.
    Dram,
    /// Starting blocks.
    Blocks,
}

impl Resource {
    /// All of them, in the order of [`Busy`].
    pub const ALL: [Resource; 11] = [
        Resource::Issue,
        Resource::Fma,
        Resource::Alu,
        Resource::IntegerFma,
        Resource::Double,
        Resource::Special,
        Resource::Constants,
        Resource::SharedAndL1,
        Resource::L2,
        Resource::Dram,
        Resource::Blocks,
    ];

    /// For tables and sentences.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Issue => "instruction issue",
            Resource::Fma => "32-bit float arithmetic",
            Resource::Alu => "integer arithmetic and logic",
            Resource::IntegerFma => "integer multiply-add",
            Resource::Double => "64-bit float arithmetic",
            Resource::Special => "special functions and conversions",
            Resource::Constants => "loads from constant memory",
            Resource::SharedAndL1 => "shared memory and L1",
            Resource::L2 => "L2",
            Resource::Dram => "device memory",
            Resource::Blocks => "starting blocks",
        }
    }
}

/// Clocks that one SM was busy, by [`Resource`].
pub type Busy = [f64; Resource::ALL.len()];

/// What one unit alone would need for the launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The unit.
    pub resource: Resource,
    /// How long.
    pub us: f64,
}

/// The slowest first, without units that have nothing to do.
pub(crate) fn bounds(us: impl Fn(Resource) -> f64) -> Vec<Bound> {
    let bound = |resource| Bound {
        resource,
        us: us(resource),
    };
    let mut bounds: Vec<Bound> = Resource::ALL.into_iter().map(bound).collect();
    bounds.retain(|bound| bound.us > 0.0);
    bounds.sort_by(|a, b| b.us.total_cmp(&a.us));
    bounds
}
