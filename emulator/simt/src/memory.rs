//! Global memory: one 64-bit address space, an allocation to a window.
//!
//! An allocation's number is the top of its address, so that finding it is one look-up and running past one never lands
//! in the next. Numbers of freed allocations rest for a while, so that their use is reported as what it is. Windows
//! below [`FIRST_NUMBER`] are the host's own addresses: mapped host memory has one address for both.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, RwLock};

use program::window;

pub(crate) mod bits;
pub(crate) mod bytes;
pub(crate) mod relaxed;
pub mod rules;

use bytes::Bytes;

/// Copies between places of the host that others may access meanwhile, kernels among them; they may overlap.
///
/// # Safety
/// `from` is readable and `to` is writable for `n` bytes.
pub unsafe fn copy_on_host(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: this function's requirement.
    unsafe { relaxed::copy(from, to, n) }
}

/// Number of the first allocation: host addresses (48 bits) are all below.
pub const FIRST_NUMBER: u64 = 0x100;

// The address at which allocation `n` starts:
//
//     (n + FIRST_NUMBER) << window::BITS     its window
//     + START                                addresses just before it still belong to it in messages
//     + LOW + n % STAGGERED * STAGGER        the low 32 bits: not 0, and different from those of other allocations
//     + ODD                                  half an address is not a large round number; not for variables of modules
//
// A kernel that is given its arguments in the wrong order reads the low half of an address as a count. A count of 0
// would make it do nothing, silently; these values are recognised (`is_low_half_of_an_address`).

/// Minimum offset of an allocation in its window.
const START: u64 = 1 << 36;
/// Minimum value of the low 32 bits of an address, except for [`ODD`].
const LOW: u64 = 1 << 24;
/// Distance between the low parts of neighbouring numbers: the largest alignment of a module's variable.
const STAGGER: u64 = 1 << 16;
/// Number of different low parts, after which they repeat.
const STAGGERED: u64 = 1024;
/// Added to all addresses but those of modules' variables.
const ODD: u64 = 3 << 9;

/// Returns whether a number is, by all appearances, the low half of an allocation's address.
pub fn is_low_half_of_an_address(number: u32) -> bool {
    let number = u64::from(number);
    (LOW..LOW + STAGGER * STAGGERED).contains(&number) && number % STAGGER == ODD
}

/// Freed numbers that are not used again yet.
const QUARANTINE: usize = 1 << 16;
/// Bytes of the largest single allocation.
const MAX_BYTES: u64 = (1 << window::BITS) - 2 * START - LOW - STAGGER * STAGGERED - ODD;

/// Requester of an allocation; used in messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// `cuMemAlloc`, or the name of a module's variable.
    pub label: String,
    /// Whether kernels may not store to it (`__constant__`).
    pub read_only: bool,
    /// Whether it is a module's variable: `label` is its symbol.
    pub symbol: bool,
}

impl Origin {
    /// Returns the origin of an ordinary allocation with this label, which kernels may write.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{asked} bytes asked for, {free} of {limit} free")]
pub struct OutOfMemory {
    /// Requested bytes.
    pub asked: u64,
    /// Bytes not in use.
    pub free: u64,
    /// Bytes of the whole device memory.
    pub limit: u64,
}

/// No live allocation starts at an address that shall be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no live allocation starts at this address")]
pub struct FreeError;

/// A range that does not lie in one live allocation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at {address:#x} do not lie in a live allocation")]
pub struct AddressError {
    /// Address of the first byte.
    pub address: u64,
    pub bytes: u64,
    pub near: Option<AllocationInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocationInfo {
    /// Address of the first byte.
    pub base: u64,
    pub bytes: u64,
    /// Serial number: the first allocation of this memory is 1. Never used again.
    pub id: u64,
    /// Whether it is freed, and its number not yet used again.
    pub freed: bool,
    /// Whether it is mapped host memory.
    pub host: bool,
    pub origin: Origin,
}

/// An allocation that has not been freed.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) id: u64,
    pub(crate) origin: Origin,
    pub(crate) bytes: Bytes,
    pub(crate) host: bool,
}

impl Allocation {
    pub(crate) fn info(&self) -> AllocationInfo {
        AllocationInfo {
            base: self.base,
            bytes: self.bytes.len() as u64,
            id: self.id,
            freed: false,
            host: self.host,
            origin: self.origin.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Slot {
    Live(Arc<Allocation>),
    Freed(Arc<AllocationInfo>),
}

/// The allocations at one moment. A launch holds one, so that what is freed meanwhile stays in place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    /// Mapped host memory by first address.
    host: BTreeMap<u64, Arc<Allocation>>,
}

impl Table {
    /// Returns the slot of an address, in range or not.
    pub(crate) fn slot(&self, address: u64) -> Option<&Slot> {
        let number = address >> window::BITS;
        self.slots.get(usize::try_from(number.checked_sub(FIRST_NUMBER)?).ok()?)
    }

    /// Returns the live allocation of an address's window (or the mapped host memory just below it).
    pub(crate) fn live(&self, address: u64) -> Option<&Arc<Allocation>> {
        if address >> window::BITS < FIRST_NUMBER {
            return self.host.range(..=address).next_back().map(|(_, a)| a);
        }
        match self.slot(address) {
            Some(Slot::Live(a)) => Some(a),
            _ => None,
        }
    }

    fn all_live(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        let live = self.slots.iter().filter_map(|slot| if let Slot::Live(a) = slot { Some(a) } else { None });
        live.chain(self.host.values())
    }

    pub(crate) fn begin_launch(&self) {
        self.all_live().for_each(|a| a.bytes.begin_launch());
    }

    /// Returns the allocation that holds the byte at `at` on the host, and its offset.
    pub(crate) fn holder(&self, at: *const u8) -> Option<(&Arc<Allocation>, usize)> {
        let offset = |a: &Allocation| (at as usize).wrapping_sub(a.bytes.start() as usize);
        self.all_live().map(|a| (a, offset(a))).find(|(a, offset)| *offset < a.bytes.len())
    }

    /// Returns the live allocation that holds a whole range.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<(&Arc<Allocation>, usize)> {
        let allocation = self.live(address)?;
        let offset = address.checked_sub(allocation.base)?;
        let inside = offset.checked_add(bytes)? <= allocation.bytes.len() as u64;
        inside.then_some((allocation, offset as usize))
    }

    /// Returns the allocation of an address, for messages.
    pub(crate) fn info(&self, address: u64) -> Option<AllocationInfo> {
        match self.slot(address) {
            Some(Slot::Live(a)) => Some(a.info()),
            Some(Slot::Freed(info)) => Some((**info).clone()),
            None => {
                let a = self.live(address)?;
                // Host memory has neighbours that are not ours: only what is close counts.
                (address - a.base < a.bytes.len() as u64 + 4096).then(|| a.info())
            }
        }
    }
}

#[derive(Debug, Default)]
struct MemoryState {
    table: Arc<Table>,
    /// Freed slots, oldest first.
    resting: VecDeque<usize>,
    used: u64,
    serial: u64,
}

/// Global memory of one device. Shared by all host threads and launches.
#[derive(Debug)]
pub struct Memory {
    state: RwLock<MemoryState>,
    limit: u64,
}

impl Memory {
    /// Returns memory with room for `limit` bytes. None of it is taken from the host until it is touched.
    pub fn new(limit: u64) -> Self {
        Self { state: RwLock::default(), limit }
    }

    /// Returns the bytes in use, allocated or [taken](Memory::take).
    pub fn used(&self) -> u64 {
        self.read_state().used
    }

    pub fn free_bytes(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    /// Returns the bytes of the whole device memory.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Counts bytes that are held elsewhere for this device (pinned host memory, decoded kernels) among those in
    /// use, before they are taken. Each is given back with [`Memory::give_back`].
    pub fn take(&self, bytes: u64) -> Result<(), OutOfMemory> {
        let mut state = self.write_state();
        let free = self.limit.saturating_sub(state.used);
        refuse_if!(bytes > free, OutOfMemory { asked: bytes, free, limit: self.limit });
        state.used += bytes;
        Ok(())
    }

    /// Returns bytes that [`Memory::take`] has counted.
    pub fn give_back(&self, bytes: u64) {
        let mut state = self.write_state();
        state.used = state.used.saturating_sub(bytes);
    }

    fn read_state(&self) -> std::sync::RwLockReadGuard<'_, MemoryState> {
        self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write_state(&self) -> std::sync::RwLockWriteGuard<'_, MemoryState> {
        self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.read_state().table)
    }

    /// Allocates zeroed bytes that count as never written, at a multiple of 256 and, even for 0 bytes, a new address.
    pub fn alloc(&self, bytes: u64, origin: Origin) -> Result<u64, OutOfMemory> {
        let mut state = self.write_state();
        let full = OutOfMemory { asked: bytes, free: self.limit.saturating_sub(state.used), limit: self.limit };
        refuse_if!(bytes > full.free || bytes > MAX_BYTES, full);
        let backing = usize::try_from(bytes).ok().and_then(Bytes::zeroed).ok_or(full)?;
        let n = state.table.slots.len();
        let at_end = n as u64 + FIRST_NUMBER <= window::LAST_ALLOCATION;
        let reuse = if state.resting.len() > QUARANTINE || !at_end { state.resting.pop_front() } else { None };
        let slot = match reuse {
            Some(slot) => slot,
            None if at_end => n,
            None => return Err(full),
        };
        state.serial += 1;
        state.used += bytes;
        let odd = if origin.symbol { 0 } else { ODD };
        let low = LOW + slot as u64 % STAGGERED * STAGGER + odd;
        let base = ((slot as u64 + FIRST_NUMBER) << window::BITS) + START + low;
        let id = state.serial;
        let allocation = Slot::Live(Arc::new(Allocation { base, id, origin, bytes: backing, host: false }));
        let table = Arc::make_mut(&mut state.table);
        if slot == n {
            table.slots.push(allocation);
        } else {
            table.slots[slot] = allocation;
        }
        Ok(base)
    }

    /// Frees an allocation. A launch that still runs keeps the bytes until it ends.
    pub fn free(&self, address: u64) -> Result<(), FreeError> {
        let mut state = self.write_state();
        let info = match state.table.slot(address) {
            Some(Slot::Live(a)) if a.base == address => a.info(),
            _ => return Err(FreeError),
        };
        let slot = ((address >> window::BITS) - FIRST_NUMBER) as usize;
        state.used -= info.bytes;
        let freed = Slot::Freed(Arc::new(AllocationInfo { freed: true, ..info }));
        Arc::make_mut(&mut state.table).slots[slot] = freed;
        state.resting.push_back(slot);
        Ok(())
    }

    /// Makes host memory known at its own address. Ranges may not overlap.
    ///
    /// # Safety
    /// The range must stay valid for reads and writes until [`Memory::unmap_host`], and until launches that were
    /// running then have ended.
    pub unsafe fn map_host(&self, start: *mut u8, bytes: usize, origin: Origin) -> Result<u64, AddressError> {
        let address = start as u64;
        let error = |near| AddressError { address, bytes: bytes as u64, near };
        let Some(end) = address.checked_add(bytes as u64) else { return Err(error(None)) };
        refuse_if!(address == 0 || end >> window::BITS >= FIRST_NUMBER, error(None));
        let mut state = self.write_state();
        if let Some((_, below)) = state.table.host.range(..end.max(address + 1)).next_back()
            && below.base + below.bytes.len() as u64 > address
        {
            return Err(error(Some(below.info())));
        }
        state.serial += 1;
        // SAFETY: the caller keeps the range valid until `unmap_host`, and for launches that run then.
        let backing = unsafe { Bytes::lent(start, bytes) };
        let id = state.serial;
        let allocation = Allocation { base: address, id, origin, bytes: backing, host: true };
        Arc::make_mut(&mut state.table).host.insert(address, Arc::new(allocation));
        Ok(address)
    }

    pub fn unmap_host(&self, start: u64) -> Result<(), FreeError> {
        let mut state = self.write_state();
        Arc::make_mut(&mut state.table).host.remove(&start).map(drop).ok_or(FreeError)
    }

    /// Returns the allocation of an address, also of one a little outside: compare with `base` and `bytes`.
    pub fn lookup(&self, address: u64) -> Option<AllocationInfo> {
        self.read_state().table.info(address)
    }

    fn with<T>(&self, address: u64, n: u64, f: impl FnOnce(&Bytes, usize) -> T) -> Result<T, AddressError> {
        // Copies run outside the lock: a big one must not hold up a launch.
        let table = self.table();
        match table.find(address, n) {
            Some((allocation, offset)) => Ok(f(&allocation.bytes, offset)),
            None => Err(AddressError { address, bytes: n, near: table.info(address) }),
        }
    }

    pub fn read(&self, address: u64, to: &mut [u8]) -> Result<(), AddressError> {
        if to.is_empty() {
            return Ok(());
        }
        self.with(address, to.len() as u64, |bytes, offset| bytes.read(offset, to)).map(|_| ())
    }

    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), AddressError> {
        if from.is_empty() {
            return Ok(());
        }
        self.with(address, from.len() as u64, |bytes, offset| bytes.write(offset, from)).map(|_| ())
    }

    /// Copies to memory of the host that others may access meanwhile, kernels among them.
    ///
    /// # Safety
    /// `to` is writable for `n` bytes.
    pub unsafe fn read_to(&self, address: u64, to: *mut u8, n: usize) -> Result<(), AddressError> {
        // SAFETY: this function's requirement.
        self.with(address, n as u64, |bytes, offset| unsafe { bytes.read_to(offset, to, n) }).map(|_| ())
    }

    /// Copies from memory of the host that others may access meanwhile, kernels among them.
    ///
    /// # Safety
    /// `from` is readable for `n` bytes.
    pub unsafe fn write_from(&self, address: u64, from: *const u8, n: usize) -> Result<(), AddressError> {
        // SAFETY: this function's requirement.
        self.with(address, n as u64, |bytes, offset| unsafe { bytes.write_from(offset, from, n) }).map(|_| ())
    }

    /// Repeats a pattern (1, 2 or 4 bytes).
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), AddressError> {
        let bytes = (pattern.len() as u64).checked_mul(count);
        let Some(n) = bytes.filter(|n| usize::try_from(*n).is_ok()) else {
            return Err(AddressError { address, bytes: u64::MAX, near: self.lookup(address) });
        };
        if n == 0 {
            return Ok(());
        }
        self.with(address, n, |bytes, offset| bytes.fill(offset, pattern, count as usize)).map(|_| ())
    }

    /// Returns the written bytes of a range in at most `limit` ranges; `None` with copied unwritten bytes, or unmapped.
    pub fn written(&self, address: u64, bytes: u64, limit: usize) -> Option<Vec<(u64, u64)>> {
        let written = |own: &Bytes, offset| {
            let ranges = own.ranges_written(offset, offset + bytes as usize, limit).into_iter();
            let from_start = |(from, to)| (from - offset as u64, to - offset as u64);
            (!own.holds_unmarked(offset, bytes as usize)).then(|| ranges.map(from_start).collect())
        };
        self.with(address, bytes, written).ok().flatten()
    }

    /// Returns whether a range holds a copy of unwritten bytes. False for what is not a live allocation.
    pub fn holds_undefined(&self, address: u64, bytes: u64) -> bool {
        let holds = |own: &Bytes, offset| own.holds_unmarked(offset, bytes as usize);
        self.with(address, bytes, holds).unwrap_or(false)
    }

    /// Returns whether the host copied into or filled an allocation. False for what is not a live allocation.
    pub fn host_wrote(&self, address: u64) -> bool {
        self.with(address, 0, |bytes, _| bytes.host_wrote()).unwrap_or(false)
    }

    /// Makes an allocation's bytes count as written from now on.
    pub(crate) fn trust(&self, address: u64) -> Result<(), AddressError> {
        self.with(address, 0, |bytes, _| bytes.trust())
    }

    /// Copies inside device memory; the ranges may overlap.
    pub fn copy(&self, to: u64, from: u64, n: u64) -> Result<(), AddressError> {
        if n == 0 {
            return Ok(());
        }
        let table = self.table();
        let error = |address| AddressError { address, bytes: n, near: table.info(address) };
        let (source, source_offset) = table.find(from, n).ok_or_else(|| error(from))?;
        let (target, offset) = table.find(to, n).ok_or_else(|| error(to))?;
        target.bytes.copy_from(offset, &source.bytes, source_offset, n as usize);
        Ok(())
    }
}
