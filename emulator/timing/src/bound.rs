//! Least times of a launch by each unit alone.

#[cfg(test)]
mod tests;

/// Declares [`Resource`], with the name of each unit.
macro_rules! resources {
    ($($(#[$doc:meta])* $unit:ident = $name:literal,)*) => {
        /// A unit that a kernel may keep busy.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Resource {
            $($(#[$doc])* $unit,)*
        }

        impl Resource {
            /// All units, in the order of [`Busy`].
            pub const ALL: [Resource; [$($name),*].len()] = [$(Resource::$unit),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Resource::$unit => $name,)*
                }
            }
        }
    };
}

resources! {
    /// The schedulers: one instruction per clock each.
    Issue = "instruction issue",
    /// [`Self::Issue`] with the clocks that instructions wait for the register banks, for operands and wide results.
    Registers = "register ports",
    Fma = "32-bit float arithmetic",
    /// Integer arithmetic but multiplication, logic, comparisons.
    Alu = "integer arithmetic and logic",
    IntegerFma = "integer multiply-add",
    Double = "64-bit float arithmetic",
    /// Reciprocals, roots, exponentials, conversions, special registers.
    Special = "special functions and conversions",
    /// Products of warpgroups.
    Tensor = "tensor cores",
    /// The unit that copies boxes.
    Boxes = "copies of boxes",
    Constants = "loads from constant memory",
    /// The part of [`Self::SharedAndL1`] that is for shared memory.
    Shared = "shared memory",
    /// The part of [`Self::SharedAndL1`] that is for L1.
    L1 = "L1",
    /// Shared memory and L1, which are one memory: wavefronts, and turning from one to the other.
    SharedAndL1 = "shared memory and L1",
    /// The connection between L2 and the SMs.
    L2 = "L2",
    /// The way from the SMs to L2, for stores to local memory: each goes there.
    LocalStores = "stores to local memory",
    Dram = "device memory",
    Blocks = "starting blocks",
}

/// Clocks that one SM was busy, by [`Resource`].
pub type Busy = [f64; Resource::ALL.len()];

/// Lower bound of the time of a launch, from one unit alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub resource: Resource,
    pub us: f64,
}

/// Ratio of register reads to issue above which the reads cost time of their own.
const NOTICEABLE: f64 = 1.01;

/// Returns the least times by each busy unit, slowest first; then the parts of [`Resource::Registers`] and L1.
pub(crate) fn bounds(us: impl Fn(Resource) -> f64) -> (Vec<Bound>, Vec<Bound>) {
    use Resource::{Issue, L1, Registers, Shared, SharedAndL1};
    let parts = [Issue, Shared, L1].map(|resource| Bound { resource, us: us(resource) });
    let [issue, shared, l1] = parts.map(|part| part.us);
    // Turning from one to the other depends on the order of accesses: no bound.
    let memory = Bound {
        resource: match (shared > 0.0, l1 > 0.0) {
            (true, false) => Shared,
            (false, true) => L1,
            _ => SharedAndL1,
        },
        us: shared + l1,
    };
    let issue = match us(Registers) {
        us if us > issue * NOTICEABLE => Bound { resource: Registers, us },
        _ => parts[0],
    };
    let alone = |resource: &Resource| ![Issue, Registers, Shared, L1, SharedAndL1].contains(resource);
    let others = Resource::ALL.into_iter().filter(alone).map(|resource| Bound { resource, us: us(resource) });
    let mut bounds: Vec<Bound> = [issue, memory].into_iter().chain(others).collect();
    bounds.retain(|bound| bound.us > 0.0);
    bounds.sort_by(|a, b| b.us.total_cmp(&a.us));
    (bounds, parts.into())
}
