//! One module per subcommand, with its arguments and its `run`, grouped by who uses them.

pub(crate) mod learn;
pub(crate) mod maintain;
pub(crate) mod measure;
pub mod teach;
