//! Jobs on several threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs jobs on one thread per core, at most `most`; returns the results in order, up to one that ends the run.
///
/// # Panics
/// Panics if a job does.
pub fn run<J: Sync, R: Send>(
    jobs: &[J], most: usize, run: impl Fn(&J) -> R + Sync, goes_on: impl Fn(&R) -> bool + Sync,
) -> Vec<R> {
    let n = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(most);
    run_on(n, jobs, run, goes_on)
}

/// Runs jobs as [`run`] does, on a number of threads.
///
/// # Panics
/// Panics if a job does.
pub fn run_on<J: Sync, R: Send>(
    n_threads: usize, jobs: &[J], run: impl Fn(&J) -> R + Sync, goes_on: impl Fn(&R) -> bool + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(job) = jobs.get(at)
        {
            let result = run(job);
            if !goes_on(&result) {
                next.store(jobs.len(), Ordering::Relaxed);
            }
            done.push((at, result));
        }
        done
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads.min(jobs.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("jobs do not panic")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_up_to_the_one_that_ends_it() {
        let jobs: Vec<usize> = (0..100).collect();
        assert_eq!(run(&jobs, 4, |job| job * 2, |_| true), (0..100).map(|job| job * 2).collect::<Vec<_>>());
        assert_eq!(run(&jobs, 1, |job| *job, |job| *job < 7), (0..8).collect::<Vec<_>>());
        assert_eq!(run(&[0; 0], 4, |job| *job, |_| true), []);
    }
}
