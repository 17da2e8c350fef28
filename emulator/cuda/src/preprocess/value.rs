//! Values of the conditions of `#if`.

use crate::source::Span;
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
            match op {
                BinaryOp::Add => a.wrapping_add(b),
                BinaryOp::Sub => a.wrapping_sub(b),
                BinaryOp::Mul => a.wrapping_mul(b),
                BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(right.span),
                BinaryOp::Div => a.wrapping_div(b),
                BinaryOp::Rem => a.wrapping_rem(b),
                BinaryOp::And => a & b,
                BinaryOp::Or => a | b,
                BinaryOp::Xor => a ^ b,
                BinaryOp::Shl => a.wrapping_shl(b as u32),
                BinaryOp::Shr => a.wrapping_shr(b as u32),
                BinaryOp::Less => i64::from(a < b),
                BinaryOp::LessEqual => i64::from(a <= b),
                BinaryOp::Greater => i64::from(a > b),
                BinaryOp::GreaterEqual => i64::from(a >= b),
                BinaryOp::Equal => i64::from(a == b),
                BinaryOp::NotEqual => i64::from(a != b),
                BinaryOp::LogicalAnd | BinaryOp::LogicalOr => i64::from(b != 0),
            }
        }
        _ => return error,
    })
}
