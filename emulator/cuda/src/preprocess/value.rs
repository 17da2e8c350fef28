//! Values of the conditions of `#if`.

use crate::source::Span;
use crate::ssa::{Class, Op, evaluate};
use crate::tree::{BinaryOp, Expression, ExpressionKind, UnaryOp};

/// Computes a condition of `#if`, or returns the place that is no constant.
pub(super) fn value(of: &Expression) -> Result<i64, Span> {
    let error = Err(of.span);
    Ok(match &of.kind {
        ExpressionKind::Int { value, .. } => *value as i64,
        ExpressionKind::Bool(value) => i64::from(*value),
        ExpressionKind::Char(value) => i64::from(*value),
        // A name that is no macro.
        ExpressionKind::Name { scope: None, arguments: None, .. } => 0,
        ExpressionKind::Parentheses(of) => value(of)?,
        ExpressionKind::Conditional(condition, then, otherwise) => {
            value(if value(condition)? != 0 { then } else { otherwise })?
        }
        ExpressionKind::Unary(op, of) => {
            let of = value(of)?;
            match op {
                UnaryOp::Minus => of.wrapping_neg(),
                UnaryOp::Plus => of,
                UnaryOp::Not => i64::from(of == 0),
                UnaryOp::BitNot => !of,
                UnaryOp::Address | UnaryOp::Deref => return error,
            }
        }
        ExpressionKind::Binary(op, left, right) => {
            let (a, short) = (value(left)?, matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr));
            if short && (a != 0) == (*op == BinaryOp::LogicalOr) {
                return Ok(i64::from(a != 0));
            }
            let b = value(right)?;
            let op = match *op {
                BinaryOp::Arith(arith) => Op::Arith(arith, true),
                BinaryOp::Compare(compare) => Op::Compare(compare, true),
                BinaryOp::LogicalAnd | BinaryOp::LogicalOr => return Ok(i64::from(b != 0)),
            };
            evaluate(op, Class::I64, Class::I64, &[a as u64, b as u64]).ok_or(right.span)? as i64
        }
        _ => return error,
    })
}
