//! Handles: numbers that look like pointers, checked at every use.
//!
//! A handle holds its kind, a slot and the slot's generation. Nothing that a caller passes is ever dereferenced: a
//! number that we did not give out, or one whose object is gone, is found out by comparison.

use std::sync::{Arc, PoisonError, RwLock};

use crate::types::Handle;

/// What a handle stands for. The top bit keeps handles apart from device addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Context = 0x81,
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
}

const GENERATIONS: u32 = 1 << 24;

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<Arc<T>>,
}

#[derive(Debug)]
struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

/// All live objects of one kind.
#[derive(Debug)]
pub(crate) struct Table<T> {
    kind: Kind,
    slots: RwLock<Slots<T>>,
}

impl<T> Table<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        let slots = RwLock::new(Slots {
            slots: Vec::new(),
            free: Vec::new(),
        });
        Self { kind, slots }
    }

    fn handle(&self, slot: u32, generation: u32) -> Handle {
        ((self.kind as usize) << 56) | ((generation as usize) << 32) | slot as usize
    }

    fn split(&self, handle: Handle) -> Option<(u32, u32)> {
        let ours = handle >> 56 == self.kind as usize;
        ours.then_some((handle as u32, (handle >> 32) as u32 & (GENERATIONS - 1)))
    }

    /// Takes an object in; `make` is told its handle.
    pub(crate) fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> (Handle, Arc<T>) {
        let mut all = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = match all.free.pop() {
            Some(slot) => slot,
            None => {
                all.slots.push(Slot {
                    generation: 1,
                    value: None,
                });
                (all.slots.len() - 1) as u32
            }
        };
        let handle = self.handle(slot, all.slots[slot as usize].generation);
        let value = Arc::new(make(handle));
        all.slots[slot as usize].value = Some(Arc::clone(&value));
        (handle, value)
    }

    /// The object behind a handle, if it is alive.
    pub(crate) fn get(&self, handle: Handle) -> Option<Arc<T>> {
        let (slot, generation) = self.split(handle)?;
        let all = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = all.slots.get(slot as usize)?;
        (slot.generation == generation).then(|| slot.value.clone())?
    }

    /// Takes an object out. Its handle is never valid again (until 2²⁴ others had the slot).
    pub(crate) fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let (index, generation) = self.split(handle)?;
        let mut all = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = all.slots.get_mut(index as usize)?;
        if slot.generation != generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = (slot.generation + 1) % GENERATIONS;
        all.free.push(index);
        Some(value)
    }

    /// Takes an object out and keeps its handle for [`Table::revive`].
    pub(crate) fn suspend(&self, handle: Handle) -> Option<Arc<T>> {
        let (index, generation) = self.split(handle)?;
        let mut all = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = all.slots.get_mut(index as usize)?;
        if slot.generation == generation {
            slot.value.take()
        } else {
            None
        }
    }

    /// Gives a suspended handle an object again.
    pub(crate) fn revive(&self, handle: Handle, make: impl FnOnce(Handle) -> T) -> Arc<T> {
        let value = Arc::new(make(handle));
        let mut all = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = self
            .split(handle)
            .and_then(|(index, _)| all.slots.get_mut(index as usize));
        if let Some(slot) = slot {
            slot.value = Some(Arc::clone(&value));
        }
        value
    }

    /// Whether a handle was once given out here: alive, or destroyed since.
    pub(crate) fn was_given(&self, handle: Handle) -> bool {
        let Some((slot, generation)) = self.split(handle) else {
            return false;
        };
        let all = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        all.slots
            .get(slot as usize)
            .is_some_and(|s| (1..=s.generation).contains(&generation))
    }

    /// Every live object that a test holds for.
    pub(crate) fn handles_where(&self, test: impl Fn(&T) -> bool) -> Vec<Handle> {
        let all = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let live = all.slots.iter().enumerate();
        live.filter(|(_, s)| s.value.as_deref().is_some_and(&test))
            .map(|(i, s)| self.handle(i as u32, s.generation))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_finds_its_object_until_it_is_removed() {
        let table = Table::new(Kind::Event);
        let (handle, _) = table.insert_with(|_| 7);
        assert_eq!(table.get(handle).as_deref(), Some(&7));
        assert_eq!(table.remove(handle).as_deref(), Some(&7));
        assert_eq!(table.get(handle), None);
        assert_eq!(table.remove(handle), None);
        assert!(table.was_given(handle));
    }

    #[test]
    fn a_slot_is_used_again_under_another_handle() {
        let table = Table::new(Kind::Event);
        let (first, _) = table.insert_with(|_| 1);
        table.remove(first);
        let (second, _) = table.insert_with(|_| 2);
        assert_ne!(first, second);
        assert_eq!(table.get(first), None);
    }

    #[test]
    fn other_numbers_are_nothing() {
        let table: Table<u8> = Table::new(Kind::Event);
        for number in [
            0,
            1,
            2,
            0x7fff_0000_1234,
            usize::MAX,
            (Kind::Event as usize) << 56,
        ] {
            assert_eq!(table.get(number), None);
            assert!(!table.was_given(number));
        }
    }
}
