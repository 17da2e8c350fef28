//! Work of the CPU on a given number of threads.

/// Returns the number of threads that a setting stands for: 0 is one per core.
pub(crate) fn count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Runs all jobs, each on a thread of its own, and returns their results. With `threads` = 1 they run here, one after
/// another: a program whose number of threads is limited cannot start any.
pub(crate) fn each<J: Send, R: Send>(
    threads: usize, jobs: impl IntoIterator<Item = J>, run: impl Fn(J) -> R + Sync,
) -> Vec<R> {
    if threads == 1 {
        return jobs.into_iter().map(run).collect();
    }
    let run = &run;
    std::thread::scope(|scope| {
        let started: Vec<_> = jobs.into_iter().map(|job| scope.spawn(move || run(job))).collect();
        let results = started.into_iter().map(|job| job.join().expect("computing does not fail"));
        results.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_is_the_callers() {
        let here = std::thread::current().id();
        let seen = |threads| each(threads, 0..4, |job| (job, std::thread::current().id() == here));
        assert_eq!(seen(1), [(0, true), (1, true), (2, true), (3, true)]);
        assert_eq!(seen(4), [(0, false), (1, false), (2, false), (3, false)]);
    }
}
