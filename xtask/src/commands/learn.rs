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

use anyhow::Result;
use xtask_support::CommandOutcome;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Measure steps, after verifying their results
    Bench(xtask_bench::Args),
    /// Begin a task: write its starter to my/
    Start(exercise::StartArgs),
    /// Check your copy of a task, or the kernels of steps
    Check(check::Args),
    /// Check your copy of a task each time you save it
    Watch(watch::Args),
    /// Give a hint that fits the last check
    ///
    /// The first level is a nudge; the next are the concept, pseudo-code and a part of the solution
    Hint(hint::Args),
    /// Show the counters of each line of a kernel: requests, sectors, wavefronts
    ///
    /// Of a code, such as E-RACE, say what it means, with an example.
    /// With --machine, show its machine code: instructions with their control bits, stall reasons, the predicted time,
    /// and the busiest loop clock by clock
    Explain(explain::Args),
    /// Answer the questions of a step before you run it
    Predict(predict::Args),
    /// Print the questions of an assignment with the numbers that are drawn for a student
    Questions(questions::Args),
    /// Compare your copy with the starter, or with the finished kernel once it has passed
    Diff(exercise::DiffArgs),
    /// Begin a task again; your copy is kept in another file
    Reset(exercise::ResetArgs),
    /// Show the finished kernel of a task that you passed
    Solution(exercise::SolutionArgs),
}

impl Command {
    pub(crate) fn run(&self) -> Result<CommandOutcome> {
        match self {
            Self::Bench(args) => xtask_bench::run(args),
            Self::Start(args) => exercise::start(args),
            Self::Check(args) => check::run(args),
            Self::Watch(args) => watch::run(args),
            Self::Hint(args) => hint::run(args),
            Self::Explain(args) => explain::run(args),
            Self::Predict(args) => predict::run(args),
            Self::Questions(args) => questions::run(args),
            Self::Diff(args) => exercise::diff(args),
            Self::Reset(args) => exercise::reset(args),
            Self::Solution(args) => exercise::solution(args),
        }
    }
}
