//! Errors that stop a step, by who has to act.

use catalog::{WrongSize, files::FileError, process::Exit};
use cudarc::driver::DriverError;

#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The command line is invalid: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Something that is needed is not there: exit code 3.
    #[error("{0}")]
    CouldNot(String),
    /// A size on the command line is malformed, or does not fit the kernel: exit code 2.
    #[error(transparent)]
    Size(#[from] WrongSize),
    /// A file cannot be read or written: exit code 3.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output cannot be written: exit code 3.
    #[error("standard output: {0}")]
    Output(std::io::Error),
    /// The driver refused a call that it should not: exit code 3.
    #[error("{}", describe(*.0))]
    Driver(#[from] DriverError),
    /// The reader closed standard output: no error, exit code 0.
    #[error("the reader of standard output is gone")]
    Closed,
}

impl StepError {
    pub fn exit_code(&self) -> Exit {
        match self {
            Self::Closed => Exit::Passed,
            Self::Usage(_) | Self::Size(_) => Exit::Usage,
            Self::CouldNot(_) | Self::File(_) | Self::Output(_) | Self::Driver(_) => Exit::CouldNot,
        }
    }
}

/// Returns a driver error as its name and what it means: `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
pub fn describe(error: DriverError) -> String {
    let text = |c: Result<&std::ffi::CStr, DriverError>| c.ok().map(|c| c.to_string_lossy().into_owned());
    match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(meaning)) => format!("{name} ({meaning})"),
        (Some(name), None) => name,
        (None, _) => format!("CUDA error {}", error.0 as u32),
    }
}
