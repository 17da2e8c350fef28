//! A map of few entries: a vector in the order of its keys.
//!
//! What checks find is bounded, and a `BTreeMap` of each pair of types was a tenth of the code that this crate makes.
//! Inserting costs a move of what lies behind, so maps that a kernel can fill without bound are `BTreeMap`s.

use std::cmp::Ordering;

#[derive(Debug, Clone)]
pub(crate) struct SortedMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.entries.binary_search_by(|(known, _)| known.cmp(key))
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.entries[at].1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.entries[at].1)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// The value of a key, which `make` gives when there is none.
    pub(crate) fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (key, make()));
                at
            }
        };
        &mut self.entries[at].1
    }

    /// The entries from `key` on, in order.
    pub(crate) fn from(&self, key: K) -> impl Iterator<Item = &(K, V)> {
        let start = self.entries.partition_point(|(known, _)| known.cmp(&key) == Ordering::Less);
        self.entries[start..].iter()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.entries.iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_the_order_of_their_keys() {
        let mut map = SortedMap::default();
        for (key, value) in [(3, "c"), (1, "a"), (2, "b"), (1, "other")] {
            map.or_insert_with(key, || value);
        }
        assert_eq!(map.len(), 3);
        assert_eq!((map.get(&1), map.get(&4)), (Some(&"a"), None));
        assert_eq!(map.from(2).map(|entry| entry.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(map.into_iter().map(|entry| entry.1).collect::<String>(), "abc");
    }
}
