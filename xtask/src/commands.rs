//! One module per subcommand, with its arguments and its `run`.

pub(crate) mod bench;
pub(crate) mod book;
pub(crate) mod calibrate;
pub(crate) mod calls;
pub(crate) mod check;
pub mod class;
pub(crate) mod doctor;
pub(crate) mod exercise;
pub(crate) mod explain;
pub(crate) mod hint;
pub(crate) mod home;
pub(crate) mod list;
pub(crate) mod predict;
pub(crate) mod profile;
pub(crate) mod ptx;
pub(crate) mod readme;
pub(crate) mod sanitize;
pub(crate) mod setup;
pub(crate) mod solutions;
pub(crate) mod specimens;
pub(crate) mod starters;
pub(crate) mod sums;
pub(crate) mod tidy;
pub(crate) mod tune;
pub(crate) mod watch;
