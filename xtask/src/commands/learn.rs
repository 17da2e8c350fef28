//! The commands of learners: measure and check kernels, do tasks.

mod check;
mod exercise;
mod explain;
mod hint;
pub(crate) mod home;
mod judge_process;
pub(crate) mod judging;
mod predict;
mod questions;
mod remedies;
mod watch;

commands! {
    /// Measure steps, after verifying their results
    Bench(xtask_bench::Args) => xtask_bench::run,
    /// Begin a task: write its starter to my/
    Start(exercise::StartArgs) => exercise::start,
    /// Check your copy of a task, or the kernels of steps
    Check(check::Args) => check::run,
    /// Check your copy of a task each time you save it
    Watch(watch::Args) => watch::run,
    /// Give a hint that fits the last check
    ///
    /// The first level is a nudge; the next are the concept, pseudo-code and a part of the solution
    Hint(hint::Args) => hint::run,
    /// Show the counters of each line of a kernel: requests, sectors, wavefronts
    ///
    /// Of a code, such as E-RACE, say what it means, with an example.
    /// With --machine, show its machine code: instructions with their control bits, stall reasons, the predicted time,
    /// and the busiest loop clock by clock
    Explain(explain::Args) => explain::run,
    /// Answer the questions of a step before you run it
    Predict(predict::Args) => predict::run,
    /// Print the questions of an assignment with the numbers that are drawn for a student
    Questions(questions::Args) => questions::run,
    /// Compare your copy with the starter, or with the finished kernel once it has passed
    Diff(exercise::DiffArgs) => exercise::diff,
    /// Begin a task again; your copy is kept in another file
    Reset(exercise::ResetArgs) => exercise::reset,
    /// Show the finished kernel of a task that you passed
    Solution(exercise::SolutionArgs) => exercise::solution,
}
