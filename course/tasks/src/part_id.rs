//! Ids of the parts that every verdict has, which no criterion may have.

pub const COMPILES: &str = "compiles";
pub const RIGHT: &str = "right";
pub const CLEAN: &str = "clean";

/// Code of a failed part [`RIGHT`].
pub const WRONG_RESULT: &str = "wrong-result";
