//! Errors for which a kernel is neither judged nor explained. A kernel's own mistakes are parts of a verdict.

use catalog::WrongSize;
use diagnostics::Finding;

use crate::emulated_module::LoadError;

#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The repository's own kernel cannot be loaded, whatever the answer to its task.
    #[error("the finished kernel cannot be launched: {0}")]
    FinishedKernel(LoadError),
    #[error("there is no kernel called {0}")]
    NoKernel(String),
    #[error(transparent)]
    Size(#[from] WrongSize),
    #[error("there is nothing to launch")]
    NothingToLaunch,
    /// The launch was rejected before the kernel ran.
    #[error("{}", .0.text)]
    Refused(Box<Finding>),
    #[error(transparent)]
    NoPrediction(#[from] timing::NoPrediction),
}

impl From<Box<Finding>> for JudgeError {
    fn from(refused: Box<Finding>) -> Self {
        Self::Refused(refused)
    }
}
