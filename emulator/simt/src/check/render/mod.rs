//! From events to messages.

use super::Context;
use super::collect::Kind;
use crate::finding::Finding;

/// One message per kind.
pub(crate) fn findings(_context: &Context<'_>, _kinds: &[Kind]) -> Vec<Finding> {
    Vec::new()
}
