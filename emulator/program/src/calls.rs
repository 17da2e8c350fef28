//! Functions that are called rather than inlined, and the frames that calls need.

use arithmetic::lanes::Dst;

/// The functions of a kernel that are called where others are inlined: those that call themselves, perhaps through
/// others, and those that are called through their addresses.
///
/// A call starts an activation. Its local memory begins where the caller's frame ends; the line [`Calls::base`] says
/// where, for each lane. What the caller goes on with is kept in the caller's frame meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The line that holds where a lane's frame starts in its local memory. 0 in the kernel itself.
    pub base: Dst,
    /// The functions, by address.
    pub callees: Vec<Callee>,
    /// Other functions whose addresses are taken: they have another signature than each call.
    pub others: Vec<(u64, String)>,
    /// The calls: [`OpKind::Call`] has an index into them.
    pub sites: Vec<CallSite>,
    /// Bytes of the kernel's own frame, with what it keeps during calls.
    pub frame: u32,
    /// Some function can call itself.
    pub recursive: bool,
}

impl Calls {
    /// Local memory of a thread for a stack of so many bytes, as a GPU would need them.
    ///
    /// A GPU's compiler keeps other registers than we do, and in other places. What it needs at least is known: the
    /// variables of a function, and the place to return to. The stack has room for as many calls as would fit then.
    pub fn local_bytes(&self, stack: u32) -> u64 {
        let once: u64 = self.callees.iter().map(|callee| u64::from(callee.frame)).sum();
        let more = |callee: &Callee| {
            let least = u64::from(callee.variables.next_multiple_of(8)) + 8;
            (u64::from(callee.frame) * u64::from(stack)).div_ceil(least)
        };
        let again = match self.recursive {
            true => self.callees.iter().map(more).max().unwrap_or(0),
            false => 0,
        };
        u64::from(self.frame) + once + again
    }
}

/// A function that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    /// Its symbol, as written in PTX.
    pub name: String,
    /// Its address in [`window::CODE`].
    pub address: u64,
    /// Position of its first operation.
    pub entry: u32,
    /// Functions with the same number take and give the same.
    pub signature: u32,
    /// Bytes of its variables in local memory.
    pub variables: u32,
    /// Bytes of its frame: variables, and what it keeps during calls.
    pub frame: u32,
    /// Registers that it may read before it has written them.
    pub zeroed: Kept,
}

/// A call of a function that is not inlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// Index into [`Calls::callees`]; `None` for a call through an address.
    pub callee: Option<u32>,
    /// The signature that it expects: equal to [`Callee::signature`] of a fitting function.
    pub signature: u32,
    /// Bytes of the caller's frame.
    pub frame: u32,
    /// Where in the caller's frame registers are kept during the call.
    pub keep_at: u32,
    /// The registers that the caller goes on with.
    pub kept: Kept,
}

/// Registers that are kept in local memory, or set to zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// First lines of 64-bit registers.
    pub wide: Box<[u32]>,
    /// Registers of one line.
    pub narrow: Box<[u32]>,
    /// Indices of predicates.
    pub preds: Box<[u32]>,
}

impl Kept {
    /// Bytes of local memory for them.
    pub fn bytes(&self) -> u64 {
        8 * self.wide.len() as u64 + 4 * self.narrow.len() as u64 + 4 * self.preds.len().div_ceil(32) as u64
    }
}
