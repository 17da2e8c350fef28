//! Work handed out to all cores.

use std::num::NonZero;
use std::sync::{Mutex, OnceLock};
use std::thread;

use catalog::Shape;

pub(crate) fn n_cores() -> usize {
    // The query reads files, which takes longer than a small product.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Below this many multiplications per thread, starting the thread takes longer than it saves.
const WORTH_A_THREAD: usize = 1 << 23;

/// Returns the number of threads that a product is worth.
pub(crate) fn n_threads(shape: Shape) -> usize {
    let n_products = shape.m * shape.n * shape.k;
    n_cores().min(n_products.div_ceil(WORTH_A_THREAD))
}

/// Runs `work` on `n_threads` threads, this one among them, and waits for all of them.
pub(crate) fn on_threads(n_threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..n_threads {
            scope.spawn(&work);
        }
        work();
    });
}

/// Items from which threads take one after the other.
pub(crate) struct Queue<Items>(Mutex<Items>);

impl<Items: Iterator> Queue<Items> {
    pub(crate) fn new(items: Items) -> Self {
        Self(Mutex::new(items))
    }

    /// Returns the next item. The lock is held while it is taken, not while it is worked on.
    pub(crate) fn take(&self) -> Option<Items::Item> {
        self.0.lock().expect("no iterator here panics").next()
    }
}

/// Processes every item once, on `n_threads` threads: a thread that is free takes the next.
pub(crate) fn for_each<Item, Items>(n_threads: usize, items: Items, work: impl Fn(Item) + Sync)
where
    Items: Iterator<Item = Item> + Send,
{
    let items = Queue::new(items);
    on_threads(n_threads, || {
        while let Some(item) = items.take() {
            work(item);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        for n_threads in [1, 3] {
            let mut seen = [0; 100];
            for_each(n_threads, seen.iter_mut(), |seen| *seen += 1);
            assert_eq!(seen, [1; 100]);
        }
    }
}
