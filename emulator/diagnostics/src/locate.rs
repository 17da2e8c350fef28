//! From an address or an instruction to what a message names: arrays, subscripts, the value's origin, the place for a
//! barrier.

pub(crate) mod arrays;
pub(crate) mod case;
pub(crate) mod layout;
pub(crate) mod spot;
pub(crate) mod subscript;
