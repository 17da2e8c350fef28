//! The commands that measure, and show what was measured.

mod calibrate;
mod doctor;
mod list;
mod profile;
mod sanitize;
mod sitting;
mod sums;
pub(crate) mod tools;
mod tune;

commands! {
    /// List the steps, their kernels and best recorded numbers, or the tasks of one
    List(list::Args) => list::run,
    /// Measure all that the book shows of this GPU, where it is not on record
    Measure(sitting::Args) => sitting::run,
    /// List the tools and devices of this machine, and those that are missing
    Doctor(doctor::Args) => doctor::run,
    /// Compare the counters of a real GPU with those of the emulated one
    Profile(profile::Args) => profile::run,
    /// Fit the cost models of v11 and v12 on this GPU
    ///
    /// With --search, try new plans instead
    Tune(tune::Args) => tune::run,
    /// Check the steps under NVIDIA's compute-sanitizer
    Sanitize(sanitize::Args) => sanitize::run,
    /// Compare checksums of C with the recorded ones
    Sums(sums::Args) => sums::run,
    /// Measure the cost of instructions on this machine's GPU, for predicted times
    Calibrate(calibrate::Args) => calibrate::run,
}
