//! Functions that are called rather than inlined, and the frames that calls need.

use arithmetic::lanes::Dst;

/// Functions of a kernel that are not inlined: recursive ones, and those called through their addresses.
///
/// A call starts an activation. Its local memory begins where the caller's frame ends; the line [`Calls::base`] holds
/// this offset for each lane. Registers that the caller uses after the call are saved in the caller's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// Line with the offset of a lane's frame in its local memory: 0 in the kernel itself.
    pub base: Dst,
    /// Sorted by address.
    pub callees: Vec<Callee>,
    /// Addresses and names of functions whose signature fits no call.
    pub others: Vec<(u64, String)>,
    /// Indexed by [`OpKind::Call`](crate::OpKind::Call).
    pub sites: Vec<CallSite>,
    /// Bytes of the kernel's own frame, with the registers that it saves.
    pub frame: u32,
    pub recursive: bool,
}

impl Calls {
    /// Returns the bytes of a thread's local memory for a stack of `stack` bytes on a GPU.
    ///
    /// A GPU's compiler saves other registers, elsewhere. A lower bound of its frames is known: the variables of a
    /// function, and the return address. The stack has room for as many calls as would fit then.
    pub fn local_bytes(&self, stack: u32) -> u64 {
        let once: u64 = self.callees.iter().map(|callee| u64::from(callee.frame)).sum();
        let more = |callee: &Callee| {
            let least = u64::from(callee.variables.next_multiple_of(8)) + 8;
            (u64::from(callee.frame) * u64::from(stack)).div_ceil(least)
        };
        let again = if self.recursive { self.callees.iter().map(more).max().unwrap_or(0) } else { 0 };
        u64::from(self.frame) + once + again
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    pub name: String,
    /// Address in [`window::CODE`](crate::window::CODE).
    pub address: u64,
    /// Position of the first operation.
    pub entry: u32,
    /// Equal for functions with the same parameters and results.
    pub signature: u32,
    /// Bytes of the variables in local memory.
    pub variables: u32,
    /// Bytes of the frame: variables and saved registers.
    pub frame: u32,
    /// Registers that may be read before they are written.
    pub zeroed: Kept,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// Index into [`Calls::callees`]; `None` for a call through an address.
    pub callee: Option<u32>,
    /// Must equal [`Callee::signature`] of the function.
    pub signature: u32,
    /// Bytes of the caller's frame.
    pub frame: u32,
    /// Offset of the saved registers in the caller's frame.
    pub keep_at: u32,
    /// Registers that the caller uses after the call.
    pub kept: Kept,
}

/// Registers to save in local memory, or to set to zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// First lines of 64-bit registers.
    pub wide: Box<[u32]>,
    /// 32-bit registers.
    pub narrow: Box<[u32]>,
    pub preds: Box<[u32]>,
}

impl Kept {
    /// Returns the bytes of local memory that the registers take.
    pub fn bytes(&self) -> u64 {
        8 * self.wide.len() as u64 + 4 * self.narrow.len() as u64 + 4 * self.preds.len().div_ceil(32) as u64
    }
}
