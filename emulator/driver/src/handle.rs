//! Handles: numbers that look like pointers, checked at every use.
//!
//! A handle holds its kind and a serial number; it is compared with those that exist, and never dereferenced.
//!
//! Programs treat handles as they treat the pointers of a real driver: as signed numbers, as Python integers of 63
//! bits, with flags in the low bits. So ours are multiples of 16 below 2⁴⁷, as user-space addresses are, in a range
//! (`0x60…` to `0x6f…`) between the heap of a Linux program and its libraries.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::result::*;
use crate::{lifecycle::initialised, types::Handle};

/// Kind of object that a handle stands for: the bits from [`KIND_SHIFT`] up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ObjectKind {
    Context = 0x61,
    Stream,
    Event,
    Module,
    Function,
    Library,
    Kernel,
    Array,
    Texture,
    Pool,
    Link,
    Graph,
    Node,
    GraphExec,
    UserObject,
}

impl ObjectKind {
    /// Returns the code for a handle that stands for no object of this kind.
    fn code(self) -> CUresult {
        match self {
            Self::Texture | Self::Pool | Self::Graph | Self::Node | Self::GraphExec | Self::UserObject => {
                ERROR_INVALID_VALUE
            }
            _ => ERROR_INVALID_HANDLE,
        }
    }
}

const KIND_SHIFT: u32 = 40;
const ALIGNMENT_BITS: u32 = 4;
/// Number of serial numbers of a kind: enough for a new object every microsecond for 19 hours.
const SERIALS: u64 = 1 << (KIND_SHIFT - ALIGNMENT_BITS);

#[derive(Debug)]
struct Objects<T> {
    /// Next serial number; never used twice before all were used.
    next: u64,
    /// `None` for suspended objects, see [`Table::suspend`].
    live: BTreeMap<u64, Option<Arc<T>>>,
}

#[derive(Debug)]
pub(crate) struct Table<T> {
    kind: ObjectKind,
    objects: RwLock<Objects<T>>,
}

impl<T> Table<T> {
    pub(crate) const fn new(kind: ObjectKind) -> Self {
        let objects = RwLock::new(Objects { next: 1, live: BTreeMap::new() });
        Self { kind, objects }
    }

    fn read(&self) -> RwLockReadGuard<'_, Objects<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects<T>> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, serial: u64) -> Handle {
        ((self.kind as usize) << KIND_SHIFT) | (serial << ALIGNMENT_BITS) as usize
    }

    fn serial(&self, handle: Handle) -> Option<u64> {
        let serial = (handle as u64 >> ALIGNMENT_BITS) % SERIALS;
        (self.handle(serial) == handle).then_some(serial)
    }

    /// Inserts an object; `make` gets its handle.
    pub(crate) fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> (Handle, Arc<T>) {
        let mut objects = self.write();
        while objects.live.contains_key(&objects.next) {
            objects.next = (objects.next + 1) % SERIALS;
        }
        let serial = objects.next;
        objects.next = (serial + 1) % SERIALS;
        let handle = self.handle(serial);
        let value = Arc::new(make(handle));
        objects.live.insert(serial, Some(Arc::clone(&value)));
        (handle, value)
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<Arc<T>> {
        let serial = self.serial(handle)?;
        self.read().live.get(&serial)?.clone()
    }

    /// Looks an object up for a call; fails before `cuInit`.
    pub(crate) fn find(&self, handle: Handle) -> Outcome<Arc<T>> {
        initialised()?;
        self.get(handle).ok_or(self.kind.code())
    }

    /// Removes an object for a call; fails before `cuInit`.
    pub(crate) fn destroy(&self, handle: Handle) -> Outcome<Arc<T>> {
        initialised()?;
        self.remove(handle).ok_or(self.kind.code())
    }

    /// Removes an object. Its handle is never valid again.
    pub(crate) fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let serial = self.serial(handle)?;
        self.write().live.remove(&serial)?
    }

    /// Removes an object and keeps its handle for [`Table::revive`].
    pub(crate) fn suspend(&self, handle: Handle) -> Option<Arc<T>> {
        let serial = self.serial(handle)?;
        self.write().live.get_mut(&serial)?.take()
    }

    /// Stores a new object under a suspended handle.
    pub(crate) fn revive(&self, handle: Handle, make: impl FnOnce(Handle) -> T) -> Arc<T> {
        let value = Arc::new(make(handle));
        if let Some(serial) = self.serial(handle) {
            self.write().live.insert(serial, Some(Arc::clone(&value)));
        }
        value
    }

    /// Returns whether a handle was ever issued here: alive, or destroyed since.
    pub(crate) fn was_given(&self, handle: Handle) -> bool {
        self.serial(handle).is_some_and(|serial| (1..self.read().next).contains(&serial))
    }

    pub(crate) fn remove_where(&self, test: impl Fn(&T) -> bool) {
        for handle in self.handles_where(test) {
            self.remove(handle);
        }
    }

    /// Handles of the live objects that pass a test, oldest first.
    pub(crate) fn handles_where(&self, test: impl Fn(&T) -> bool) -> Vec<Handle> {
        let objects = self.read();
        let live = objects.live.iter();
        live.filter(|(_, value)| value.as_deref().is_some_and(&test)).map(|(serial, _)| self.handle(*serial)).collect()
    }
}
