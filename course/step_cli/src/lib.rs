//! Options that the steps' programs and `xtask` have in common.
//!
//! `cargo xtask bench v05 --duel` starts `v05 bench --duel`. Both programs flatten the structs of this crate, and
//! `xtask` wraps them in [`PassedOn`], which keeps the words for the step: an option that is added here works in both.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use catalog::Shape;
use catalog::shape::{WrongSize, side};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum, parser::ValueSource};

/// The options of `bench`.
#[derive(Debug, Clone, Args)]
pub struct BenchOptions {
    /// Sizes to run at.
    #[command(flatten)]
    pub sizes: Sizes,
    /// Also run each kernel and cuBLAS in turns, at length and in bursts: which is faster, and how sure is it?
    #[arg(long)]
    pub duel: bool,
}

/// The options that choose sizes.
#[derive(Debug, Clone, Args)]
pub struct Sizes {
    /// Sizes, separated by commas: 1024 (M = N = K), 1025x1023x1021 (MxNxK), or for transposes 30000x333 (MxN)
    #[arg(long, value_name = "SIZE", value_delimiter = ',', conflicts_with_all = ["m", "n", "k"], allow_negative_numbers = true)]
    pub size: Vec<Shape>,
    /// Rows of A and C, in place of --size and together with --n and --k
    #[arg(long, value_parser = side, allow_negative_numbers = true)]
    pub m: Option<usize>,
    /// Columns of B and C
    #[arg(long, value_parser = side, allow_negative_numbers = true)]
    pub n: Option<usize>,
    /// Columns of A, rows of B
    #[arg(long, value_parser = side, allow_negative_numbers = true)]
    pub k: Option<usize>,
}

impl Sizes {
    /// Returns the sizes that are asked for; none when the step chooses.
    pub fn shapes(&self) -> Result<Vec<Shape>, WrongSize> {
        Shape::from_options(&self.size, [self.m, self.n, self.k])
    }
}

/// The option that chooses kernels of a step.
#[derive(Debug, Clone, Args)]
pub struct Kernels {
    /// Run only the kernels whose names contain NAME
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Run the kernels in CUDA C++, their siblings in Rust, or both
    #[arg(long, value_enum, default_value_t)]
    pub lang: Lang,
}

/// The languages of the kernels that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Lang {
    #[default]
    Cuda,
    Rust,
    Both,
}

/// The option that chooses the device.
#[derive(Debug, Clone, Args)]
pub struct Device {
    /// Use the emulated GPU even where there is a real one
    #[arg(long)]
    pub emulate: bool,
}

/// Options that are parsed here, and passed on to another program that has them, too.
#[derive(Debug, Clone)]
pub struct PassedOn<T> {
    /// Their values.
    pub options: T,
    /// The words of the command line for the other program.
    pub words: Vec<String>,
}

impl<T: Args> Args for PassedOn<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Args> FromArgMatches for PassedOn<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { words: words::<T>(matches), options: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the words that stand for the options of `T` among these.
fn words<T: Args>(matches: &ArgMatches) -> Vec<String> {
    let declared = T::augment_args(Command::new(""));
    let mut words = Vec::new();
    for arg in declared.get_arguments() {
        let id = arg.get_id().as_str();
        let Some(name) = arg.get_long() else { continue };
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        words.push(format!("--{name}"));
        if arg.get_action().takes_values() {
            let values = matches.get_raw(id).into_iter().flatten();
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            words.push(values.join(","));
        }
    }
    words
}
